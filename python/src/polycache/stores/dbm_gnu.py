"""gdbm, by Python's dbm.gnu."""

import os
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from .dbm_file import DbmStore
from .store import Opening

try:
    import dbm.gnu as gnu
except ImportError as error:
    raise InvalidArgument(
        'store="dbm.gnu" needs a Python that was built with gdbm (Debian: python3-gdbm); '
        'store="dbm" is in every one'
    ) from error


class GnuStore(DbmStore):
    name = "dbm.gnu"
    failures = (gnu.error, OSError)

    def __init__(self, opening: Opening) -> None:
        self._limit = opening.limit
        self._written = 0
        super().__init__(opening)

    def _opened(self, path: Path, flag: str) -> Any:
        return gnu.open(str(path), flag + ("" if flag == "r" else "f"), 0o600)

    def put(self, key: bytes, value: bytes) -> int:
        grown = super().put(key, value)
        self._written += len(key) + len(value)
        # What was deleted stays in the file until it is made anew.
        if self._written > self._limit // 64:
            self._written = 0
            if self._allocated() > self._limit:
                self._database.reorganize()
        return grown

    def _allocated(self) -> int:
        return os.stat(self._folder / "dict").st_blocks * 512

    def flush(self) -> None:
        self._database.sync()
