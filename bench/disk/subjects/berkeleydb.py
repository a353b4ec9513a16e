"""Berkeley DB's B-tree through PyPI's berkeleydb, without an environment."""

from berkeleydb import db
from diskbench.measure import measure
from diskbench.store import NONE, Place, Store

# Bytes; the default of 256 KiB would write pages out again and again.
CACHE = 64 << 20


class BerkeleyDb(Store):
    name = "berkeleydb"
    durability = NONE
    notes = ("B-tree, a cache of 64 MiB, no log",)
    versions = (
        ("berkeleydb (PyPI)", db.__version__),
        ("Berkeley DB", ".".join(map(str, db.version()))),
    )
    alone = "one process at a time, without an environment"

    def __init__(self, place: Place) -> None:
        self.db = db.DB()
        self.db.set_cachesize(0, CACHE)
        self.db.open(str(place.directory / "cache.db"), dbtype=db.DB_BTREE, flags=db.DB_CREATE)

    def set(self, key: str, value: str) -> None:
        self.db.put(key.encode(), value.encode())

    def get(self, key: str) -> str | None:
        value: bytes | None = self.db.get(key.encode())
        return None if value is None else value.decode()

    def delete(self, key: str) -> None:
        self.db.delete(key.encode())

    def close(self) -> None:
        self.db.close()


measure(BerkeleyDb)
