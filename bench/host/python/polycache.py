"""The Python package: text is encoded by every set, and decoded by every get that memory does not
answer."""

from functools import partial

import polycache
from session import (
    GET,
    GET_ALL_IN_MEMORY,
    GET_TENTH_IN_MEMORY,
    GET_WITHOUT_MEMORY,
    PUT,
    Place,
    Reads,
    Run,
    Subject,
    Writes,
    serve,
)


class Polycache(Subject):
    name = "polycache"
    bounded = True

    def __init__(self, place: Place) -> None:
        def opened(memory: object) -> polycache.Cache:
            return polycache.Cache(place.directory, limit=place.limit, memory=memory)

        self.cache = opened(False)
        self.all_in_memory = opened({"max_entries": place.keys, "max_bytes": None})
        self.tenth_in_memory = opened({"max_entries": place.keys // 10, "max_bytes": None})

    def operations(self) -> dict[str, Run]:
        return {
            PUT: self.fill,
            GET: self.get,
            GET_WITHOUT_MEMORY: self.get,
            GET_ALL_IN_MEMORY: partial(self.get, cache=self.all_in_memory),
            GET_TENTH_IN_MEMORY: partial(self.get, cache=self.tenth_in_memory),
        }

    def fill(self, writes: Writes) -> None:
        put = self.cache.set
        for key, value in writes:
            put(key, value)

    def get(self, keys: Reads, cache: polycache.Cache | None = None) -> int:
        get, misses = (cache or self.cache).get, 0
        for key in keys:
            if get(key) is None:
                misses += 1
        return misses

    def value(self, key: str) -> str | None:
        value: str | None = self.cache.get(key)
        return value

    def turns(self) -> float:
        stats = self.cache.stats()
        # A 512th of the limit, 64 KiB to 16 MiB, rounded down to a power of two (spec/host.md).
        block = 1 << (min(max(stats.limit // 512, 64 << 10), 16 << 20).bit_length() - 1)
        return stats.blocks_claimed * block / stats.limit

    def close(self) -> None:
        for cache in (self.cache, self.all_in_memory, self.tenth_in_memory):
            cache.close()


serve(Polycache)
