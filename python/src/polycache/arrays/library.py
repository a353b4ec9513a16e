"""The import of an optional library."""

from importlib import import_module
from typing import Any


def library(name: str, extra: str) -> Any:
    """The module, without a type: its stubs may be missing. Raises `ImportError`, which says what
    to install."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(
            f'polycache.arrays needs the package {package}: pip install "polycache[{extra}]"'
        ) from error
