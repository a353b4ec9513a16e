"""A replacement for cachetools: the same names over `MemoryCache`.

    from polycache.cachetools import TTLCache, cached

docs/from-cachetools.md says what differs. It has no `FIFOCache`, `LFUCache` and `RRCache`, because
their order is not kept here.
"""

from . import keys
from .caches import Cache, LRUCache, TLRUCache, TTLCache
from .decorators import cached, cachedmethod

__all__ = [
    "Cache",
    "LRUCache",
    "TLRUCache",
    "TTLCache",
    "cached",
    "cachedmethod",
    "keys",
]
