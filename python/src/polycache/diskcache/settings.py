"""The settings of a cache, which its directory keeps and its attributes show."""

import tempfile
from math import isnan
from os import path
from typing import Any

from ..errors import InvalidArgument
from .constants import DEFAULT_SETTINGS, EVICTION_POLICY

KEYS = frozenset(DEFAULT_SETTINGS)
NUMBERS = ("count", "size", "hits", "misses")

MIB, GIB, TIB = 2**20, 2**30, 2**40


def resolved(directory: Any, prefix: str = "diskcache-") -> str:
    """The directory as text, with `~` and variables; a new temporary one for None."""
    if directory is None:
        return tempfile.mkdtemp(prefix=prefix)
    return path.expandvars(path.expanduser(str(directory)))


def checked(name: str, value: Any, for_disk: bool = False) -> Any:
    """The setting's value. Raises `InvalidArgument` for an unknown name or a value out of range.
    `for_disk`: the settings of a `Disk` of the program's own are its own."""
    if name not in KEYS and not (for_disk and name.startswith("disk_")):
        known = ", ".join(sorted(KEYS))
        raise InvalidArgument(f"unknown setting {name!r}; there are {known}")
    if name == "eviction_policy" and value not in EVICTION_POLICY:
        known = ", ".join(EVICTION_POLICY)
        raise InvalidArgument(f"eviction_policy is one of {known}, not {value!r}")
    if name in ("size_limit", "cull_limit") and (
        not isinstance(value, int | float) or isnan(value)
    ):
        raise InvalidArgument(f"{name} is a number, not {value!r}")
    return value


def limit_of_store(settings: dict[str, Any]) -> int:
    """The limit of a new host store, which is fixed. What the cache culls leaves so much of it
    empty that the host store evicts nothing by itself; without culling there is room for much."""
    if settings["eviction_policy"] == "none":
        return 64 * GIB
    wanted = settings["size_limit"] * (1 if settings["cull_limit"] else 4)
    return int(min(max(wanted, 2 * MIB), TIB))


def least_limit(settings: dict[str, Any]) -> int:
    """What the limit is on the smallest disk."""
    if settings["eviction_policy"] == "none":
        return 64 * MIB
    return int(min(max(settings["size_limit"], 2 * MIB), GIB))
