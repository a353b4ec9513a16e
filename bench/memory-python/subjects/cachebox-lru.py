"""cachebox.LRUCache."""

from typing import Any

import cachebox
from measure import SIZE, MappingPeer, measure


class Cachebox(MappingPeer):
    name = "cachebox-lru"
    package = "cachebox"

    def make(self) -> Any:
        return cachebox.LRUCache(SIZE)

    def memoize(self, function: Any) -> Any:
        return cachebox.cached(cachebox.LRUCache(SIZE))(function)


measure(Cachebox)
