"""functools.lru_cache: a memoized function, no cache that can be asked or written to."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from measure import CALL, SIZE, Loop, Peer, measure


class LruCache(Peer):
    name = "functools-lru_cache"

    def fill(self, keys: list[Any]) -> None:
        known = {key: number + 1 for number, key in enumerate(keys)}
        self.function = lru_cache(SIZE)(known.get)
        for key in keys:
            self.function(key)

    def value(self, key: Any) -> int | None:
        return self.function(key)

    def loops(self) -> Mapping[str, Loop]:
        function = self.function

        def called(keys: Iterable[Any]) -> None:
            for key in keys:
                function(key)

        return {CALL: called}


measure(LruCache)
