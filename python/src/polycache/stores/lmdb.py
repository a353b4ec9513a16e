"""LMDB, by the package lmdb: durable, larger than memory, for many processes.

The map is somewhat larger than the limit from the beginning, in every process, so that it never has
to grow under others. The file grows as it is used.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ..errors import IoError, NoSpace
from .at_fork import notice
from .kinds import missing
from .store import Opening, Store

try:
    import lmdb
except ImportError as error:
    raise missing("lmdb", "lmdb") from error

T = TypeVar("T")
_log = logging.getLogger("polycache")
_PAGE = 256
"""Keys of a page."""
_SMALLEST_MAP = 1 << 20
_SPARE = 16
"""The part of the limit by which the map is larger: a deletion takes pages, too, before it frees
any. The cache evicts before the limit is reached."""
_Place = tuple[str, int, int]
_open: dict[_Place, list[Any]] = {}
"""LMDB's environments of this process by their folders and files, with how many objects each has. A
folder that was removed and made anew has another file."""
_open_lock = threading.Lock()


class LmdbStore(Store):
    name = "lmdb"
    durabilities = ("kill", "synced")
    processes = True
    max_key = 511
    # One value's pages are in one piece, and counted in 32 bits.
    max_value = 2**31

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._closed = False
        if opening.ended == "power lost":
            # Without waiting for the disk, its pages may be of different times.
            _remove(opening.folder)
        try:
            self._env = self._open()
        except (lmdb.InvalidError, lmdb.CorruptedError, lmdb.VersionMismatchError) as error:
            if not opening.alone or opening.read_only:
                raise IoError(f"{opening.folder} holds a damaged LMDB: {error}") from error
            _log.warning("a damaged LMDB in %s is made anew: %s", opening.folder, error)
            _remove(opening.folder)
            self._env = self._open()
        with suppress(lmdb.Error):
            self._env.reader_check()
        notice(self)

    def _open(self) -> Any:
        """A new environment, or that of another object.

        A forked child that opens the directory once more has two; LMDB allows a process one.
        """
        with _open_lock:
            place = self._file()
            if place is None or place not in _open:
                environment = self._open_now()
                place = self._file() or (str(self._opening.folder), 0, 0)
                _open[place] = [environment, 0]
            self._place = place
            _open[place][1] += 1
            return _open[place][0]

    def _file(self) -> _Place | None:
        """Which file the folder has, if any."""
        folder = self._opening.folder
        try:
            status = (folder / "data.mdb").stat()
        except FileNotFoundError:
            return None
        return str(folder), status.st_dev, status.st_ino

    def _open_now(self) -> Any:
        opening = self._opening
        return lmdb.open(
            str(opening.folder),
            map_size=_SMALLEST_MAP if opening.read_only else self._map_size(),
            readonly=opening.read_only,
            # Where nothing may be written, readers cannot enter themselves.
            lock=not opening.read_only,
            sync=opening.durability == "synced",
            mode=0o600,
            max_readers=1024,
            max_spare_txns=8,
            # Random reads fetch nothing that is not asked for.
            readahead=False,
            meminit=False,
        )

    def _map_size(self) -> int:
        limit = self._opening.limit
        return _SMALLEST_MAP + limit + limit // _SPARE

    def forked(self) -> None:
        """The parent's environment is not the child's: it is opened once more when it is used."""
        global _open_lock
        self._lock = threading.Lock()
        self._env = None
        _open_lock = threading.Lock()
        _open.clear()

    def _environment(self) -> Any:
        """In a forked child."""
        with self._lock:
            if self._env is None:
                if self._closed:
                    raise ValueError("the store was closed")
                self._env = self._open()
            return self._env

    def get(self, key: bytes) -> bytes | None:
        try:
            with (self._env or self._environment()).begin() as transaction:
                found: bytes | None = transaction.get(key)
                return found
        except lmdb.Error as error:
            return self._again(error, lambda: self.get(key))

    def put(self, key: bytes, value: bytes) -> None:
        try:
            with (self._env or self._environment()).begin(write=True) as transaction:
                transaction.put(key, value)
        except lmdb.Error as error:
            self._again(error, lambda: self.put(key, value))

    def delete(self, key: bytes) -> None:
        try:
            with (self._env or self._environment()).begin(write=True) as transaction:
                transaction.delete(key)
        except lmdb.Error as error:
            self._again(error, lambda: self.delete(key))

    def pop(self, key: bytes, most: int) -> tuple[bytes | None, int | None]:
        try:
            environment = self._env or self._environment()
            with environment.begin(write=True, buffers=True) as transaction:
                found = transaction.get(key)
                if found is None:
                    return None, None
                head = bytes(found[:most])
                transaction.delete(key)
                return head, None
        except lmdb.Error as error:
            return self._again(error, lambda: self.pop(key, most))

    def _again(self, error: Exception, call: Callable[[], T]) -> T:
        """Puts right what can be, and calls once more; else raises what it means."""
        if isinstance(error, lmdb.MapResizedError):
            # Another program gave the file a larger map.
            with self._lock:
                self._env.set_mapsize(0)
            return call()
        if isinstance(error, lmdb.MapFullError | lmdb.DiskError):
            # Readers that were killed keep pages from being used again.
            self._env.reader_check()
            raise NoSpace(f"LMDB has no room: {error}") from error
        if isinstance(error, lmdb.ReadersFullError) and self._env.reader_check():
            return call()
        raise error

    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        keys: list[bytes] = []
        with (self._env or self._environment()).begin() as transaction:
            place = transaction.cursor()
            there = place.set_range(cursor or prefix) if cursor or prefix else place.first()
            if there and cursor is not None and place.key() == cursor:
                there = place.next()
            while there and len(keys) < _PAGE:
                key = place.key()
                if not key.startswith(prefix):
                    return keys, None
                keys.append(key)
                there = place.next()
        return keys, keys[-1] if there and keys else None

    def size(self) -> int:
        stat = (self._env or self._environment()).stat()
        pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
        return int(stat["psize"] * pages)

    def close(self) -> None:
        self._closed = True
        if self._env is None:
            return
        with _open_lock:
            opened = _open[self._place]
            opened[1] -= 1
            if opened[1] == 0:
                del _open[self._place]
                self._env.close()

    def flush(self) -> None:
        if not self._opening.read_only:
            (self._env or self._environment()).sync(True)


def _remove(folder: Path) -> None:
    for name in ("data.mdb", "lock.mdb"):
        with suppress(FileNotFoundError):
            (folder / name).unlink()
