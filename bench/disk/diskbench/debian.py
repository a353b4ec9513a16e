"""Modules of the standard library that this Python was built without, taken from Debian's."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType


def module(name: str) -> ModuleType:
    """`name` of this Python, or else of Debian's of the same version, which has the same binary
    interface (no other name would be found). Raises ImportError."""
    try:
        return importlib.import_module(name)
    except ImportError:
        version = ".".join(map(str, sys.version_info[:2]))
        theirs = Path(f"/usr/lib/python{version}/lib-dynload")
        sys.modules.pop(name, None)
        sys.path.append(str(theirs))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(theirs))
