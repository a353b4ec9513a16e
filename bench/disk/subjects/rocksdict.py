"""RocksDB through rocksdict's Rdict with its defaults, as the page had it."""

from importlib.metadata import version

from rocksdict import Rdict

from diskbench.measure import measure
from diskbench.store import Place, Store


class RocksDict(Store):
    name = "rocksdict"
    compression = "compresses: Snappy, by the block, once it leaves memory"
    notes = ("defaults: a log that is written, not synced",)
    versions = (("rocksdict", version("rocksdict")),)
    alone = "one process at a time: it locks its folder"

    def __init__(self, place: Place) -> None:
        self.db = Rdict(str(place.directory / "cache.rocksdb"))
        # Text goes in and comes out.
        self.set, self.get, self.delete = self.db.put, self.db.get, self.db.delete

    def close(self) -> None:
        self.db.close()


measure(RocksDict)
