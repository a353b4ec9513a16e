"""The Python package's Cache: text is encoded by every set and decoded by every get."""

from polycache_store import PolycacheStore

from diskbench.measure import measure


class Polycache(PolycacheStore):
    name = "polycache"


measure(Polycache)
