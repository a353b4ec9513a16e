"""One cache that Python, TypeScript, Ruby and Rust processes of a machine share, without a server.

    cache = polycache.Cache(".cache", namespace="shop")
    user = cache.get_or_set("user:1", lambda: load_user(1), ttl="5m")

`AsyncCache` has the same methods for asyncio. Subinterpreters are not supported: importing the
package in one raises ImportError.
"""

from .async_cache import AsyncCache
from .cache import Cache
from .durations import Duration
from .errors import (
    ChecksumMismatch,
    Closed,
    ConfigMismatch,
    EntryTooLarge,
    ForeignDirectory,
    InvalidArgument,
    InvalidKey,
    IoError,
    MalformedEntry,
    NoSpace,
    PolycacheError,
    TooManyParticipants,
    UnsupportedCompressor,
    UnsupportedFilesystem,
    UnsupportedFlags,
    UnsupportedPlatform,
    UnsupportedSerializer,
    UnsupportedValue,
    UnsupportedVersion,
    ValueTooLarge,
)
from .memoize import Memoized
from .missing import MISSING, Missing
from .options import Options
from .statistics import Report, Stats

__all__ = [
    "MISSING",
    "AsyncCache",
    "Cache",
    "ChecksumMismatch",
    "Closed",
    "ConfigMismatch",
    "Duration",
    "EntryTooLarge",
    "ForeignDirectory",
    "InvalidArgument",
    "InvalidKey",
    "IoError",
    "MalformedEntry",
    "Memoized",
    "Missing",
    "NoSpace",
    "Options",
    "PolycacheError",
    "Report",
    "Stats",
    "TooManyParticipants",
    "UnsupportedCompressor",
    "UnsupportedFilesystem",
    "UnsupportedFlags",
    "UnsupportedPlatform",
    "UnsupportedSerializer",
    "UnsupportedValue",
    "UnsupportedVersion",
    "ValueTooLarge",
]
