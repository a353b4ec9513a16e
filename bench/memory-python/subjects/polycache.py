"""MemoryCache, and `cached` for functions."""

from typing import Any

import polycache
from measure import SIZE, MappingPeer, measure


class Polycache(MappingPeer):
    name = "polycache"

    def make(self) -> Any:
        return polycache.MemoryCache(SIZE)

    def memoize(self, function: Any) -> Any:
        return polycache.cached(SIZE)(function)


measure(Polycache)
