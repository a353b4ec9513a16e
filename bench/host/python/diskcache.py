"""diskcache with its defaults: SQLite in WAL mode, text in a column."""

import diskcache
from session import GET, PUT, Place, Reads, Run, Subject, Writes, serve


class DiskCache(Subject):
    name = "diskcache"
    versions = (("diskcache", diskcache.__version__),)

    def __init__(self, place: Place) -> None:
        self.cache = diskcache.Cache(str(place.directory))

    def operations(self) -> dict[str, Run]:
        return {PUT: self.put, GET: self.get}

    def put(self, writes: Writes) -> None:
        put = self.cache.set
        for key, value in writes:
            put(key, value)

    def get(self, keys: Reads) -> int:
        get, misses = self.cache.get, 0
        for key in keys:
            if get(key) is None:
                misses += 1
        return misses

    def fill(self, writes: Writes) -> None:
        with self.cache.transact():
            self.put(writes)

    def value(self, key: str) -> str | None:
        value: str | None = self.cache.get(key)
        return value

    def close(self) -> None:
        self.cache.close()


serve(DiskCache)
