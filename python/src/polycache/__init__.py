"""One cache that Python, TypeScript, Ruby and Rust processes of a machine share, without a server.

    cache = polycache.Cache(".cache", namespace="shop")
    user = cache.get_or_set("user:1", lambda: load_user(1), ttl="5m")

`AsyncCache` has the same methods for asyncio. `MemoryCache` holds one program's own objects, and
`cached` and `cached_method` keep what functions return in one. Subinterpreters are not supported:
importing a cache there raises ImportError. `polycache.redis_namespace` is for Redis and needs no
native extension.
"""

import sys
from typing import TYPE_CHECKING, Any

# pip checks this, but not for a copied package. The code below would fail with an obscure error.
if sys.version_info < (3, 11):  # noqa: UP036
    raise ImportError(
        f"polycache needs Python 3.11 or newer, and this is {sys.version.split()[0]}: install a "
        "newer one, and polycache with its pip"
    )

from .durations import Duration
from .entry import Entry
from .errors import (
    ChecksumMismatch,
    Closed,
    CommandNotAllowed,
    Conflict,
    DecryptionFailed,
    EntryTooLarge,
    ForeignDirectory,
    IntegerOverflow,
    InvalidArgument,
    InvalidKey,
    InvalidNamespace,
    IoError,
    MalformedEntry,
    NoSpace,
    NotEncrypted,
    PolycacheError,
    ReadOnly,
    RemoteUnavailable,
    TooManyParticipants,
    UncacheableRead,
    UnknownCommand,
    UnknownDictionary,
    UnknownEncryptionKey,
    UnsupportedCompressor,
    UnsupportedFilesystem,
    UnsupportedFlags,
    UnsupportedPlatform,
    UnsupportedSerializer,
    UnsupportedValue,
    UnsupportedVersion,
    ValueTooLarge,
    WaitTimeout,
    WrongType,
)
from .missing import MISSING, Missing
from .options import EncryptionKey, Options
from .registered_types import Type
from .statistics import MachineStats, ProcessStats, RemoteStats, Report, Stats, Usage
from .update import DELETE, LEAVE, Update

if TYPE_CHECKING:
    from ._native import Named
    from .async_cache import AsyncCache
    from .cache import Cache
    from .lease import AsyncLease, Lease
    from .memoize import AsyncMemoized, Memoized, MemoizedInfo
    from .memory_cache import MemoryCache, MemoryEntry, MemoryStats
    from .memory_cache_options import MemoryCacheOptions
    from .memory_memoize import CacheInfo, MemoryMemoized, cached, cached_method

# The same in the packages of every language.
__version__ = "0.1.0"

__all__ = [
    "DELETE",
    "LEAVE",
    "MISSING",
    "AsyncCache",
    "AsyncLease",
    "AsyncMemoized",
    "Cache",
    "CacheInfo",
    "ChecksumMismatch",
    "Closed",
    "CommandNotAllowed",
    "Conflict",
    "DecryptionFailed",
    "Duration",
    "EncryptionKey",
    "Entry",
    "EntryTooLarge",
    "ForeignDirectory",
    "IntegerOverflow",
    "InvalidArgument",
    "InvalidKey",
    "InvalidNamespace",
    "IoError",
    "Lease",
    "MachineStats",
    "MalformedEntry",
    "Memoized",
    "MemoizedInfo",
    "MemoryCache",
    "MemoryCacheOptions",
    "MemoryEntry",
    "MemoryMemoized",
    "MemoryStats",
    "Missing",
    "Named",
    "NoSpace",
    "NotEncrypted",
    "Options",
    "PolycacheError",
    "ProcessStats",
    "ReadOnly",
    "RemoteStats",
    "RemoteUnavailable",
    "Report",
    "Stats",
    "TooManyParticipants",
    "Type",
    "UncacheableRead",
    "UnknownCommand",
    "UnknownDictionary",
    "UnknownEncryptionKey",
    "UnsupportedCompressor",
    "UnsupportedFilesystem",
    "UnsupportedFlags",
    "UnsupportedPlatform",
    "UnsupportedSerializer",
    "UnsupportedValue",
    "UnsupportedVersion",
    "Update",
    "Usage",
    "ValueTooLarge",
    "WaitTimeout",
    "WrongType",
    "__version__",
    "cached",
    "cached_method",
]

# These load more than a program may need: most the native extension, some asyncio.
_LATER = {
    "AsyncCache": "async_cache",
    "AsyncLease": "lease",
    "Cache": "cache",
    "CacheInfo": "memory_memoize",
    "Lease": "lease",
    "AsyncMemoized": "memoize",
    "Memoized": "memoize",
    "MemoizedInfo": "memoize",
    "MemoryCache": "memory_cache",
    "MemoryEntry": "memory_cache",
    "MemoryMemoized": "memory_memoize",
    "MemoryCacheOptions": "memory_cache_options",
    "MemoryStats": "memory_cache",
    "Named": "_native",
    "cached": "memory_memoize",
    "cached_method": "memory_memoize",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Names whose modules are loaded when they are first used."""
        if name == "_native":  # `from . import _native` asks here first.
            from .extension import load

            return load()
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
