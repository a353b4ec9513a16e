"""py-lmdb that writes into its map, a transaction an operation."""

from diskbench.measure import measure
from lmdb_store import LmdbStore


class LmdbWriteMap(LmdbStore):
    name = "lmdb-writemap"
    notes = (
        "a transaction an operation",
        "sync=False, writemap, map_async",
        "a stray write can corrupt it",
    )
    writemap = True


measure(LmdbWriteMap)
