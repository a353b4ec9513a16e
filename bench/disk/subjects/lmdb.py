"""py-lmdb with sync=False, a transaction an operation."""

from lmdb_store import LmdbStore

from diskbench.measure import measure


class Lmdb(LmdbStore):
    name = "lmdb"
    notes = ("a transaction an operation", "sync=False")


measure(Lmdb)
