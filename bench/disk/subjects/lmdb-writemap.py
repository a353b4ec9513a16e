"""py-lmdb that writes into its map, a transaction an operation."""

from lmdb_store import LmdbStore

from diskbench.measure import measure


class LmdbWriteMap(LmdbStore):
    name = "lmdb-writemap"
    notes = (
        "a transaction an operation",
        "sync=False, writemap, map_async",
        "a stray write can corrupt it",
    )
    writemap = True


measure(LmdbWriteMap)
