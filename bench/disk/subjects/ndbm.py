"""Berkeley DB's ndbm through the standard library's dbm.ndbm, a hash table."""

from diskbench.debian import module
from diskbench.measure import measure
from diskbench.store import NONE, Place, Store

ndbm = module("dbm.ndbm")


class Ndbm(Store):
    name = "ndbm"
    durability = NONE
    notes = ("a hash table with Berkeley DB's default cache",)
    versions = (("dbm.ndbm", ndbm.library),)
    most = 10_000
    alone = "one process at a time"

    def __init__(self, place: Place) -> None:
        self.db = ndbm.open(str(place.directory / "cache"), "c")

    def set(self, key: str, value: str) -> None:
        # It encodes text by itself, as UTF-8.
        self.db[key] = value

    def get(self, key: str) -> str | None:
        value: bytes | None = self.db.get(key)
        return None if value is None else value.decode()

    def delete(self, key: str) -> None:
        del self.db[key]

    def close(self) -> None:
        self.db.close()


measure(Ndbm)
