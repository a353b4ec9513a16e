"""Stores of a cache's entries beside the host tier: `Cache(path, store="lmdb")`.

Each is one class, in one file, with six methods; `Store` is what they have in common, and what a
store of your own extends (`docs/stores.md`).
"""

from .kinds import NAMES, Kind, kind_of
from .store import Durability, Opening, Store

__all__ = ["NAMES", "Durability", "Kind", "Opening", "Store", "kind_of"]
