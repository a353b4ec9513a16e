"""Our Cache over Berkeley DB's hash file."""

from polycache_store import PolycacheStore

from diskbench.measure import measure
from diskbench.store import NONE


class PolycacheBerkeleyDb(PolycacheStore):
    name = "polycache-berkeleydb"
    durability = NONE
    notes = ("a cache over the store berkeleydb", "a byte limit with room for all")
    store = "berkeleydb"
    store_durability = "none"
    alone = "one process at a time: Berkeley DB's file has no locks"


measure(PolycacheBerkeleyDb)
