"""py-lmdb with sync=False, a transaction an operation."""

from diskbench.measure import measure
from lmdb_store import LmdbStore


class Lmdb(LmdbStore):
    name = "lmdb"
    notes = ("a transaction an operation", "sync=False")


measure(Lmdb)
