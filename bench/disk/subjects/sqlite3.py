"""The standard library's sqlite3: one table, a transaction a write, WAL."""

import sqlite3

from diskbench.measure import measure
from diskbench.store import Place, Store

# Seconds that a writer waits for another.
PATIENCE = 30
PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL", "mmap_size=268435456", "cache_size=-65536")
TABLE = "create table if not exists cache(key text primary key, value text)"
SET = "insert or replace into cache values(?, ?)"
GET = "select value from cache where key = ?"
DELETE = "delete from cache where key = ?"


class Sqlite3(Store):
    name = "sqlite3"
    notes = ("a transaction an operation", ", ".join(PRAGMAS))
    versions = (("sqlite", sqlite3.sqlite_version),)
    most = 2500

    def __init__(self, place: Place) -> None:
        self.db = sqlite3.connect(
            place.directory / "cache.sqlite", timeout=PATIENCE, isolation_level=None
        )
        for pragma in PRAGMAS:
            self.db.execute(f"pragma {pragma}")
        self.db.execute(TABLE)

    def set(self, key: str, value: str) -> None:
        self.db.execute(SET, (key, value))

    def get(self, key: str) -> str | None:
        row = self.db.execute(GET, (key,)).fetchone()
        return None if row is None else row[0]

    def delete(self, key: str) -> None:
        self.db.execute(DELETE, (key,))

    def close(self) -> None:
        self.db.close()


measure(Sqlite3)
