"""py-lmdb with sync=False, a hundred operations in a transaction."""

from diskbench.measure import measure
from lmdb_store import LmdbBatches


class LmdbBatchesOf100(LmdbBatches):
    name = "lmdb-batches-of-100"
    notes = ("100 operations a transaction, lost together", "sync=False")
    batch = 100


measure(LmdbBatchesOf100)
