"""The client's own read commands, from memory and from what this host keeps (spec/reads.md).

    reads = cached(redis.Redis(), path=".cache")
    options = reads.xrange("OPTIONS", "-", "+")

Needs redis-py and the native extension, which are loaded when `cached` is first used.
"""

from typing import TYPE_CHECKING, Any

from ..errors import UncacheableRead
from .stats import ReadStats, UncachedReads

if TYPE_CHECKING:
    from .cached import cached
    from .types import AsyncCachedReads, CachedReads

__all__ = [
    "AsyncCachedReads",
    "CachedReads",
    "ReadStats",
    "UncacheableRead",
    "UncachedReads",
    "cached",
]

if not TYPE_CHECKING:
    _LATER = {"cached": "cached", "AsyncCachedReads": "asynchronous", "CachedReads": "synchronous"}

    def __getattr__(name: str) -> Any:
        """Names that load redis-py and the extension when they are first used."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = found
        return found
