"""py-lmdb as it is by default: every write waits for the disk."""

from lmdb_store import LmdbStore

from diskbench.measure import measure
from diskbench.store import SYNCED


class LmdbSynced(LmdbStore):
    name = "lmdb-synced"
    durability = SYNCED
    notes = ("a transaction an operation", "sync=True, the default", "reads are those of lmdb")
    sync = True
    most = 80
    writes_only = True


measure(LmdbSynced)
