"""The names of diskcache's module `core`, for programs that import them from there."""

from .arguments import args_to_key, full_name
from .cache import Cache
from .constants import (
    DEFAULT_SETTINGS,
    ENOVAL,
    EVICTION_POLICY,
    MODE_BINARY,
    MODE_NONE,
    MODE_PICKLE,
    MODE_RAW,
    MODE_TEXT,
    UNKNOWN,
    Constant,
)
from .disk import Disk, JSONDisk
from .errors import EmptyDirWarning, Timeout, UnknownFileWarning

__all__ = [
    "DEFAULT_SETTINGS",
    "ENOVAL",
    "EVICTION_POLICY",
    "MODE_BINARY",
    "MODE_NONE",
    "MODE_PICKLE",
    "MODE_RAW",
    "MODE_TEXT",
    "UNKNOWN",
    "Cache",
    "Constant",
    "Disk",
    "EmptyDirWarning",
    "JSONDisk",
    "Timeout",
    "UnknownFileWarning",
    "args_to_key",
    "full_name",
]
