"""A dict: no bound, no eviction. What can be reached."""

from typing import Any

from measure import MappingPeer, measure


class Dict(MappingPeer):
    name = "dict"
    notes = ("without a bound",)

    def make(self) -> Any:
        return {}


measure(Dict)
