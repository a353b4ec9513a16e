"""py-lmdb with sync=False, a hundred operations in a transaction."""

from lmdb_store import LmdbBatches

from diskbench.measure import measure


class LmdbBatchesOf100(LmdbBatches):
    name = "lmdb-batches-of-100"
    notes = ("100 operations a transaction, lost together", "sync=False")
    batch = 100


measure(LmdbBatchesOf100)
