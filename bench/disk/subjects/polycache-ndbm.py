"""Our Cache over Berkeley DB's ndbm, through the standard library's dbm.ndbm."""

from polycache_store import PolycacheStore

from diskbench.debian import module
from diskbench.measure import measure
from diskbench.store import NONE

# Where the store looks for it.
module("dbm.ndbm")


class PolycacheNdbm(PolycacheStore):
    name = "polycache-ndbm"
    durability = NONE
    notes = ("a cache over the store dbm.ndbm", "a byte limit with room for all")
    store = "dbm.ndbm"
    store_durability = "none"
    most = 10_000
    alone = "one process at a time"


measure(PolycacheNdbm)
