"""Our Cache over the standard library's dbm of SQLite."""

from polycache_store import PolycacheStore

from diskbench.measure import measure


class PolycacheDbm(PolycacheStore):
    name = "polycache-dbm"
    notes = ("a cache over the store dbm, SQLite's", "a byte limit with room for all")
    store = "dbm"
    most = 2500


measure(PolycacheDbm)
