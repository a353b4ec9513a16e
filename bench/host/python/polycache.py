"""The Python package: text is encoded by every set and decoded by every get."""

import polycache
from session import GET, PUT, Place, Reads, Run, Subject, Writes, serve


class Polycache(Subject):
    name = "polycache"
    bounded = True

    def __init__(self, place: Place) -> None:
        self.cache = polycache.Cache(place.directory, limit=place.limit, memory=False)

    def operations(self) -> dict[str, Run]:
        return {PUT: self.fill, GET: self.get}

    def fill(self, writes: Writes) -> None:
        put = self.cache.set
        for key, value in writes:
            put(key, value)

    def get(self, keys: Reads) -> int:
        get, misses = self.cache.get, 0
        for key in keys:
            if get(key) is None:
                misses += 1
        return misses

    def value(self, key: str) -> str | None:
        value: str | None = self.cache.get(key)
        return value

    def turns(self) -> float:
        stats = self.cache.stats()
        block = stats.max_record + 32
        return stats.blocks_claimed * block / stats.limit

    def close(self) -> None:
        self.cache.close()


serve(Polycache)
