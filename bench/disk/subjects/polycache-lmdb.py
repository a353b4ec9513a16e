"""Our Cache over py-lmdb: a transaction an operation."""

from polycache_store import PolycacheStore

from diskbench.measure import measure


class PolycacheLmdb(PolycacheStore):
    name = "polycache-lmdb"
    notes = ("a cache over the store lmdb", "a byte limit with room for all")
    store = "lmdb"


measure(PolycacheLmdb)
