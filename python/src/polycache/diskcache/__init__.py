"""A replacement for diskcache: the same names over the host store.

    import polycache.diskcache as diskcache

docs/diskcache.md says what differs. Nothing is pickled unless you ask for it, by `use_pickle` or
`pickle_secret`. `polycache import` takes over a directory of diskcache's.
"""

from typing import TYPE_CHECKING, Any

from .cache import Cache
from .constants import DEFAULT_SETTINGS, ENOVAL, EVICTION_POLICY, UNKNOWN
from .deque import Deque
from .disk import Disk, JSONDisk
from .errors import (
    EmptyDirWarning,
    InvalidSeal,
    OldDirectory,
    PickleNeeded,
    Timeout,
    UnknownFileWarning,
)
from .fanout import FanoutCache
from .index import Index
from .locks import BoundedSemaphore, Lock, RLock
from .pickling import use_pickle
from .recipes import Averager, barrier, memoize_stampede, throttle

if TYPE_CHECKING:
    from .django import DjangoCache as DjangoCache

__all__ = [
    "DEFAULT_SETTINGS",
    "ENOVAL",
    "EVICTION_POLICY",
    "UNKNOWN",
    "Averager",
    "BoundedSemaphore",
    "Cache",
    "Deque",
    "Disk",
    "EmptyDirWarning",
    "FanoutCache",
    "Index",
    "InvalidSeal",
    "JSONDisk",
    "Lock",
    "OldDirectory",
    "PickleNeeded",
    "RLock",
    "Timeout",
    "UnknownFileWarning",
    "barrier",
    "memoize_stampede",
    "throttle",
    "use_pickle",
]

__version__ = "5.6.3"
"""Of the diskcache that this stands for, for programs that ask."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """`DjangoCache`, which needs Django, when it is first used."""
        if name == "DjangoCache":
            from .django import DjangoCache as DjangoCache

            return DjangoCache
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
