"""The page's LmdbCache: lmdbdict, with one write transaction from opening to closing."""

from importlib.metadata import version

from lmdbdict import lmdbdict

from diskbench.measure import measure
from diskbench.store import NONE, Place, Store


class LmdbDict(Store):
    name = "lmdbdict"
    durability = NONE
    notes = (
        "as the page: one write transaction for the whole run, reads inside it",
        "commits and syncs when it is closed",
        "pickles keys and values",
    )
    versions = (("lmdbdict", version("lmdbdict")),)
    alone = "one process at a time: its write transaction lasts as long as it is open"

    def __init__(self, place: Place) -> None:
        self.db = lmdbdict(str(place.directory / "cache.lmdb"), mode="w")

    def set(self, key: str, value: str) -> None:
        self.db[key] = value

    def get(self, key: str) -> str | None:
        try:
            value: str = self.db[key]
        except KeyError:
            return None
        return value

    def delete(self, key: str) -> None:
        del self.db[key]

    def close(self) -> None:
        # It has no other way.
        del self.db


measure(LmdbDict)
