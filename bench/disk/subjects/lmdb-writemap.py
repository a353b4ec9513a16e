"""py-lmdb that writes into its map, a transaction an operation."""

from diskbench.lmdb_store import LmdbStore
from diskbench.measure import measure


class LmdbWriteMap(LmdbStore):
    name = "lmdb-writemap"
    notes = ("a transaction an operation", "writemap, map_async; a stray write can corrupt it")
    options = {"writemap": True, "map_async": True}


measure(LmdbWriteMap)
