"""theine.Cache, whose reads return the value and whether it is there."""

from collections.abc import Iterable, Mapping
from typing import Any

import theine
from measure import GET, MISS, SET, SIZE, Loop, Peer, measure


class Theine(Peer):
    name = "theine"
    package = "theine"

    def __init__(self, keys: str, **options: Any) -> None:
        self.cache: Any = theine.Cache(SIZE)
        super().__init__(keys, **options)

    def fill(self, keys: list[Any]) -> None:
        for number, key in enumerate(keys):
            self.cache.set(key, number + 1)

    def value(self, key: Any) -> int | None:
        found: int | None = self.cache.get(key)[0]
        return found

    def loops(self) -> Mapping[str, Loop]:
        get, put = self.cache.get, self.cache.set

        def read(keys: Iterable[Any]) -> None:
            for key in keys:
                get(key)

        def write(keys: Iterable[Any]) -> None:
            for key in keys:
                put(key, key)

        return {GET: read, MISS: read, SET: write}

    def close(self) -> None:
        self.cache.close()


measure(Theine)
