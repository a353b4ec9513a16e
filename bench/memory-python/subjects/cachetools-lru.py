"""cachetools.LRUCache, without a lock: not for threads."""

from typing import Any

import cachetools
from measure import SIZE, MappingPeer, measure


class Cachetools(MappingPeer):
    name = "cachetools-lru"
    package = "cachetools"
    notes = ("not for threads",)

    def make(self) -> Any:
        return cachetools.LRUCache(SIZE)

    def memoize(self, function: Any) -> Any:
        return cachetools.cached(cachetools.LRUCache(SIZE))(function)


measure(Cachetools)
