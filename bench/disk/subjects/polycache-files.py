"""Our Cache with a file an entry."""

from polycache_store import PolycacheStore

from diskbench.measure import measure


class PolycacheFiles(PolycacheStore):
    name = "polycache-files"
    notes = ("a cache over the store files", "a byte limit with room for all")
    store = "files"
    most = 2500


measure(PolycacheFiles)
