"""Our Cache over GNU dbm, through the standard library's dbm.gnu."""

from polycache_store import PolycacheStore

from diskbench.debian import module
from diskbench.measure import measure
from diskbench.store import NONE

# Where the store looks for it.
module("dbm.gnu")


class PolycacheGdbm(PolycacheStore):
    name = "polycache-gdbm"
    durability = NONE
    notes = ("a cache over the store dbm.gnu", "a byte limit with room for all")
    store = "dbm.gnu"
    store_durability = "none"
    most = 10_000
    alone = "one process at a time: a writer locks it"


measure(PolycacheGdbm)
