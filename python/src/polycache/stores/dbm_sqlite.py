"""SQLite, as Python's own dbm.sqlite3 uses it, in every Python: durable, and for many processes."""

import os
import sqlite3
import threading
import weakref
from typing import Any

from ..errors import NoSpace
from .at_fork import notice
from .store import Opening, Store

_PAGE = 256
"""Keys of a page."""
# Without ROWID a value above a quarter of a page would have pages of its own.
_TABLE = "CREATE TABLE IF NOT EXISTS Dict (key BLOB UNIQUE NOT NULL, value BLOB NOT NULL)"


_GET = "SELECT value FROM Dict WHERE key = ?"
_PUT = "REPLACE INTO Dict VALUES (?, ?)"
_DELETE = "DELETE FROM Dict WHERE key = ?"


class _Connection:
    """A thread's own, closed when it has ended. A forked child does not close its parent's."""

    __slots__ = ("__weakref__", "process", "sqlite")

    def __init__(self, sqlite: sqlite3.Connection) -> None:
        self.sqlite = sqlite
        self.process = os.getpid()

    def __del__(self) -> None:
        if self.process == os.getpid():
            self.sqlite.close()
        else:
            _PARENTS.append(self.sqlite)


_PARENTS: list[sqlite3.Connection] = []


class SqliteStore(Store):
    name = "dbm.sqlite3"
    durabilities = ("kill", "synced")
    processes = True
    # SQLite's own limit of a value is 10^9 bytes.
    max_value = 10**9

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._file = opening.folder.resolve() / "dict.sqlite"
        self._closed = False
        self._renew()
        if opening.ended == "power lost":
            # Without waiting for the disk, its pages may be of different times.
            self._remove()
        try:
            self._connection()
        except sqlite3.DatabaseError as error:
            is_damaged = error.sqlite_errorname in ("SQLITE_NOTADB", "SQLITE_CORRUPT")
            if not (is_damaged and opening.alone) or opening.read_only:
                raise
            self._remove()
            self._connection()
        notice(self)

    def _renew(self) -> None:
        # Each thread has a connection: so one waits for another as processes do.
        self._own = threading.local()
        self._lock = threading.Lock()
        self._all: weakref.WeakSet[_Connection] = weakref.WeakSet()

    def forked(self) -> None:
        """The parent's connections are not the child's, which may not even close them."""
        self._renew()

    def _remove(self) -> None:
        for name in os.listdir(self._opening.folder):
            os.unlink(self._opening.folder / name)

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is not None:
            return connection
        if self._closed:
            raise ValueError("the store was closed")
        opening = self._opening
        connection = self._connect("mode=ro" if opening.read_only else "mode=rwc")
        if not opening.read_only:
            connection.execute("PRAGMA journal_mode = WAL")
            synchronous = "FULL" if opening.durability == "synced" else "OFF"
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute(f"PRAGMA journal_size_limit = {max(opening.limit // 32, 65536)}")
            connection.execute(_TABLE)
            # A read of a value that has pages of its own is a system call a page otherwise.
            connection.execute(f"PRAGMA mmap_size = {opening.limit}")
            pages = connection.execute("PRAGMA page_size").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {max(opening.limit // pages, 16)}")
            checkpoint = max(opening.limit // 64 // pages, 4)
            connection.execute(f"PRAGMA wal_autocheckpoint = {min(checkpoint, 1000)}")
        with self._lock:
            kept = _Connection(connection)
            self._all.add(kept)
        self._own.kept = kept
        self._own.connection = connection
        return connection

    def _connect(self, how: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"{self._file.as_uri()}?{how}",
            uri=True,
            isolation_level=None,
            timeout=60,
            check_same_thread=False,
        )

    def _execute_at_rest(self, words: str, arguments: Any) -> list[Any]:
        """Reads a file that no process has open, where SQLite may not make the files beside it.

        Each time anew, because a process that opens it later writes to it.
        """
        connection = self._connect("immutable=1")
        try:
            return connection.execute(words, arguments).fetchall()
        finally:
            connection.close()

    def _execute(self, words: str, *arguments: Any) -> list[Any]:
        try:
            return self._connection().execute(words, arguments).fetchall()
        except sqlite3.OperationalError as error:
            is_alone = error.sqlite_errorname.startswith("SQLITE_CANTOPEN")
            if is_alone and self._opening.read_only:
                return self._execute_at_rest(words, arguments)
            if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
                raise NoSpace(f"SQLite has no room: {error}") from error
            raise

    def get(self, key: bytes) -> bytes | None:
        try:
            # Most threads have their connection, and most calls no error.
            row = self._own.connection.execute(_GET, (key,)).fetchone()
        except (AttributeError, sqlite3.Error):
            rows = self._execute(_GET, key)
            row = rows[0] if rows else None
        return None if row is None else row[0]

    def put(self, key: bytes, value: bytes) -> None:
        try:
            self._own.connection.execute(_PUT, (key, value))
        except (AttributeError, sqlite3.Error):
            self._execute(_PUT, key, value)

    def delete(self, key: bytes) -> None:
        try:
            self._own.connection.execute(_DELETE, (key,))
        except (AttributeError, sqlite3.Error):
            self._execute(_DELETE, key)

    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        after = "> ?" if cursor is not None else ">= ?"
        rows = self._execute(
            f"SELECT key FROM Dict WHERE key {after} ORDER BY key LIMIT {_PAGE}",
            prefix if cursor is None else cursor,
        )
        keys = [row[0] for row in rows if row[0].startswith(prefix)]
        return keys, keys[-1] if len(keys) == _PAGE else None

    def size(self) -> int:
        one = [self._execute(f"PRAGMA {word}")[0][0] for word in _SIZES]
        pages, free, size = one
        return int((pages - free) * size)

    def close(self) -> None:
        self._closed = True
        for kept in list(self._all):
            kept.sqlite.close()

    def flush(self) -> None:
        if not self._opening.read_only:
            self._execute("PRAGMA synchronous = FULL")
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if self._opening.durability != "synced":
                self._execute("PRAGMA synchronous = OFF")


_SIZES = ("page_count", "freelist_count", "page_size")
