"""cachebox.FIFOCache."""

from typing import Any

import cachebox
from measure import SIZE, MappingPeer, measure


class Cachebox(MappingPeer):
    name = "cachebox-fifo"
    package = "cachebox"

    def make(self) -> Any:
        return cachebox.FIFOCache(SIZE)

    def memoize(self, function: Any) -> Any:
        return cachebox.cached(cachebox.FIFOCache(SIZE))(function)


measure(Cachebox)
