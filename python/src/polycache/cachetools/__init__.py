"""What a program that uses cachetools imports instead: the same names over `MemoryCache`.

    from polycache.cachetools import TTLCache, cached

docs/from-cachetools.md says what stays different. `FIFOCache`, `LFUCache` and `RRCache`, which are
named for an order that is not kept here, are not among them.
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
