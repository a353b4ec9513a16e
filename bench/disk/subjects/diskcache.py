"""diskcache with its defaults, and with room for everything."""

import diskcache

from diskbench.measure import measure
from diskbench.store import Place, Store


class DiskCache(Store):
    name = "diskcache"
    notes = ("SQLite, WAL, synchronous=NORMAL", "size_limit raised to hold all")
    versions = (("diskcache", diskcache.__version__),)
    most = 1000

    def __init__(self, place: Place) -> None:
        room = 4 * place.keys * (place.size + 1000)
        self.cache = diskcache.Cache(str(place.directory), size_limit=room)
        # Text goes in and comes out.
        self.set, self.get, self.delete = self.cache.set, self.cache.get, self.cache.delete

    def close(self) -> None:
        self.cache.close()


measure(DiskCache)
