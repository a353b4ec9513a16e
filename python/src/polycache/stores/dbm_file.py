"""What gdbm, ndbm and Berkeley DB have in common: one file, which one process has open, and which a
kill in the middle of a write may leave as no whole one."""

import logging
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from .disk_room import DiskRoom
from .store import Opening, Store

_log = logging.getLogger("polycache")
_PAGE = 4096
OVERHEAD = 32
"""Bytes that an entry takes beside its key and value, about."""


class DbmStore(Store):
    durabilities = ("none",)
    counts = True
    max_value = 2**30

    waits_for_room: ClassVar[bool] = False
    """The library never gives up a page that a full disk refuses."""

    failures: ClassVar[tuple[type[Exception], ...]] = (OSError,)
    """What a file that is not whole raises."""

    def __init__(self, opening: Opening) -> None:
        self._folder = opening.folder
        self._room = DiskRoom(opening.folder) if self.waits_for_room else None
        if opening.ended != "closed" and not opening.read_only:
            self._remove()
        try:
            self._database = self._opened(
                opening.folder / "dict", "r" if opening.read_only else "c"
            )
        except self.failures as error:
            if opening.read_only:
                raise
            _log.warning("a damaged file in %s is made anew: %s", opening.folder, error)
            self._remove()
            self._database = self._opened(opening.folder / "dict", "c")

    @abstractmethod
    def _opened(self, path: Path, flag: str) -> Any:
        """The library's object, a mapping."""

    def _remove(self) -> None:
        for file in self._folder.iterdir():
            file.unlink()

    def get(self, key: bytes) -> bytes | None:
        try:
            found: bytes = self._database[key]
            return found
        except KeyError:
            return None

    def put(self, key: bytes, value: bytes) -> int:
        if self._room:
            self._room.claim(len(key) + len(value) + 2 * _PAGE)
        before = self._weight(key)
        self._database[key] = value
        return len(key) + len(value) + OVERHEAD - before

    def delete(self, key: bytes) -> int:
        before = self._weight(key)
        if before:
            del self._database[key]
        return -before

    def _weight(self, key: bytes) -> int:
        try:
            return len(key) + len(self._database[key]) + OVERHEAD
        except KeyError:
            return 0

    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        # Its own iteration skips keys when others are deleted meanwhile.
        return [key for key in self._database.keys() if key.startswith(prefix)], None  # noqa: SIM118

    def size(self) -> int:
        return sum(self._weight(key) for key in self._database.keys())  # noqa: SIM118

    def close(self) -> None:
        self._database.close()
