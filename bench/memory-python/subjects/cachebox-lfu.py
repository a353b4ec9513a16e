"""cachebox.LFUCache."""

from typing import Any

import cachebox
from measure import SIZE, MappingPeer, measure


class Cachebox(MappingPeer):
    name = "cachebox-lfu"
    package = "cachebox"

    def make(self) -> Any:
        return cachebox.LFUCache(SIZE)

    def memoize(self, function: Any) -> Any:
        return cachebox.cached(cachebox.LFUCache(SIZE))(function)


measure(Cachebox)
