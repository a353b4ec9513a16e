"""GNU dbm through the standard library's dbm.gnu, in its fast mode, which is the default: what the
page called BerkleyDbCache, to judge by its file's name."""

from diskbench.debian import module
from diskbench.measure import measure
from diskbench.store import Place, Store

gnu = module("dbm.gnu")


class Gdbm(Store):
    name = "gdbm"
    notes = (
        "most probably the page's BerkleyDbCache",
        "a kill in the midst of a write can corrupt it",
    )
    most = 10_000
    alone = "one process at a time: a writer locks it"

    def __init__(self, place: Place) -> None:
        self.db = gnu.open(str(place.directory / "cache.gdbm"), "c")

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


measure(Gdbm)
