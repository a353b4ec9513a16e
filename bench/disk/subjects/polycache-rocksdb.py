"""Our Cache over RocksDB, through rocksdict."""

from polycache_store import PolycacheStore

from diskbench.measure import measure


class PolycacheRocksDb(PolycacheStore):
    name = "polycache-rocksdb"
    compression = "compresses: LZ4, by the block, once it leaves memory"
    notes = ("a cache over the store rocksdb", "a byte limit with room for all")
    store = "rocksdb"
    alone = "one process at a time: RocksDB locks its folder"


measure(PolycacheRocksDb)
