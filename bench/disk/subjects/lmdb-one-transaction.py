"""py-lmdb with sync=False, each loop in one transaction, committed before the clock stops."""

import sys

from lmdb_store import LmdbBatches

from diskbench.measure import measure


class LmdbOneTransaction(LmdbBatches):
    name = "lmdb-one-transaction"
    notes = ("a whole loop in one transaction, lost together until its end", "sync=False")
    batch = sys.maxsize


measure(LmdbOneTransaction)
