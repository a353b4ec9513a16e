"""Berkeley DB's B-tree, by the package berkeleydb. One process has it open."""

import importlib
import threading
from pathlib import Path
from typing import Any

from .dbm_file import OVERHEAD, DbmStore
from .disk_room import DiskRoom
from .kinds import missing
from .page_limit import PageLimit
from .store import Opening

try:
    db: Any = importlib.import_module("berkeleydb.db")
except ImportError as error:
    raise missing("berkeleydb", "berkeleydb") from error

_PAGE_SIZE = 16384
"""Bytes; with the usual 4096 a value of 1000 has pages of its own, and takes twice its bytes."""
_LARGEST_INSIDE = _PAGE_SIZE // 4 - 64
"""Bytes; a larger value has pages of its own."""
_USABLE = _PAGE_SIZE - 26
"""Bytes of those pages that are the value's."""
_SMALLEST_CACHE = 256 * 1024
_LARGEST_CACHE = 64 << 20
_KEYS = 256
"""Keys of a page of `scan`."""


class BerkeleydbStore(DbmStore):
    name = "berkeleydb"
    failures = (db.DBError, OSError)
    _environment: Any = None

    def __init__(self, opening: Opening) -> None:
        # One call at a time, which takes less time than the library's own locks. A finalizer that
        # runs in between may read.
        self._lock = threading.RLock()
        self._cache = max(min(opening.limit // 16, _LARGEST_CACHE), _SMALLEST_CACHE)
        super().__init__(opening)
        # All of its memory may be new pages, which then want room on the disk.
        self._disk = DiskRoom(opening.folder, self._cache, self._write_out)
        self._pages = PageLimit(db, self._database, _PAGE_SIZE, opening.limit)

    def _write_out(self) -> None:
        self._environment.memp_trickle(100)

    def _opened(self, path: Path, flag: str) -> Any:
        environment = db.DBEnv()
        environment.set_cachesize(0, self._cache)
        flags = db.DB_CREATE | db.DB_PRIVATE | db.DB_THREAD | db.DB_INIT_MPOOL
        environment.open(str(path.parent), flags)
        database = db.DB(environment)
        try:
            database.set_get_returns_none(2)
            database.set_pagesize(_PAGE_SIZE)
            flags = db.DB_THREAD | (db.DB_RDONLY if flag == "r" else db.DB_CREATE)
            database.open(path.name, dbtype=db.DB_BTREE, flags=flags, mode=0o600)
        except BaseException:
            database.close()
            environment.close()
            raise
        self._environment = environment
        return database

    def get(self, key: bytes) -> bytes | None:
        with self._lock:
            found: bytes | None = self._database.get(key)
            return found

    def put(self, key: bytes, value: bytes) -> int:
        size = _taken(len(key), len(value))
        with self._lock:
            grown = size - self._weight(key)
            if len(value) > _LARGEST_INSIDE:
                # Its pages may be new though others become free.
                self._claim(size + 2 * _PAGE_SIZE)
            elif grown > 0:
                # Pages are half full at least.
                self._claim(2 * grown)
            self._database.put(key, value)
        return grown

    def _claim(self, cost: int) -> None:
        self._pages.claim(cost)
        self._disk.claim(cost)

    def delete(self, key: bytes) -> int:
        with self._lock:
            return super().delete(key)

    def pop(self, key: bytes, most: int) -> tuple[bytes | None, int | None]:
        with self._lock:
            found: bytes | None = self._database.get(key)
            if found is None:
                return None, 0
            self._database.delete(key)
        return found, -_taken(len(key), len(found))

    def _weight(self, key: bytes) -> int:
        try:
            size: int = self._database.get_size(key)
        except db.DBNotFoundError:
            return 0
        return _taken(len(key), size)

    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        keys: list[bytes] = []
        with self._lock:
            place = self._database.cursor()
            try:
                # Without the values.
                found = place.set_range(cursor or prefix, dlen=0, doff=0)
                if found is not None and found[0] == cursor:
                    found = place.next(dlen=0, doff=0)
                while found is not None and len(keys) < _KEYS:
                    if not found[0].startswith(prefix):
                        return keys, None
                    keys.append(found[0])
                    found = place.next(dlen=0, doff=0)
            finally:
                place.close()
        return keys, keys[-1] if found is not None and keys else None

    def size(self) -> int:
        with self._lock:
            return super().size()

    def close(self) -> None:
        with self._lock:
            self._database.close()
            self._environment.close()

    def flush(self) -> None:
        with self._lock:
            self._database.sync()


def _taken(key: int, value: int) -> int:
    """Bytes of the file that an entry takes, about."""
    if value > _LARGEST_INSIDE:
        return key + OVERHEAD + -(-value // _USABLE) * _PAGE_SIZE
    # Keys that come in no order leave a third of each page free.
    return (key + value + OVERHEAD) * 3 // 2
