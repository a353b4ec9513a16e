"""The Python package's Cache: text is encoded by every set and decoded by every get."""

from diskbench.measure import measure
from polycache_store import PolycacheStore


class Polycache(PolycacheStore):
    name = "polycache"


measure(Polycache)
