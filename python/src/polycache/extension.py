"""Loads the native extension, or says what to do when it is missing or does not fit this Python."""

import sys
from importlib import import_module
from types import ModuleType


def load() -> ModuleType:
    """`polycache._native`. Raises ImportError, which says what to do."""
    try:
        return import_module("polycache._native")
    except ImportError as error:
        # The module finder gives the long name, the library loader the short one. An error of the
        # extension itself, for a subinterpreter say, has none.
        if error.name not in ("polycache._native", "_native"):
            raise
        import platform

        absent = isinstance(error, ModuleNotFoundError)
        raise ImportError(
            "polycache cannot load its native extension for "
            f"{platform.python_implementation()} {platform.python_version()} on {sys.platform} "
            f"({platform.machine()}): {'it is not there' if absent else error}. Install it again "
            "with the pip of this Python: `python -m pip install --force-reinstall polycache` "
            "takes a wheel, or compiles one where there is none, for which it needs Rust 1.85 "
            "(https://rustup.rs). In a checkout, `make build`. `polycache.redis_namespace` works "
            "without it."
        ) from error
