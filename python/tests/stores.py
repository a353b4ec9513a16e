"""What the tests of stores share: which there are, and a store of the program's own."""

import importlib
from pathlib import Path
from typing import ClassVar

import pytest

from polycache import InvalidArgument
from polycache.stores import NAMES, Durability, Opening, Store


def _lacks(name: str) -> str:
    module, _ = NAMES[name]
    try:
        importlib.import_module(f"polycache.stores.{module}")
    except InvalidArgument as error:
        return str(error)
    return ""


ALL = [name for name in NAMES if name != "dbm.sqlite3"]
STORES = [
    pytest.param(name, marks=pytest.mark.skipif(bool(_lacks(name)), reason=_lacks(name)))
    for name in ALL
]
SHARED = [
    pytest.param(name, marks=pytest.mark.skipif(bool(_lacks(name)), reason=_lacks(name)))
    for name in ("lmdb", "dbm", "files")
]
"""Those that several processes may have open."""


def allocated(folder: Path) -> int:
    """Bytes of the disk that a folder takes, as `du` counts them."""
    files = [folder, *folder.rglob("*")]
    return sum(file.lstat().st_blocks * 512 for file in files if file.exists())


class OwnStore(Store):
    """One file with all entries, written anew each time: the smallest that survives a kill."""

    durabilities: ClassVar[tuple[Durability, ...]] = ("kill",)

    def __init__(self, opening: Opening) -> None:
        self._file = opening.folder / "all"
        self._entries: dict[bytes, bytes] = {}
        if self._file.exists():
            lines = self._file.read_text().splitlines()
            pairs = [line.split() for line in lines]
            self._entries = {bytes.fromhex(key): bytes.fromhex(value) for key, value in pairs}

    def _write(self) -> None:
        new = self._file.with_suffix(".new")
        new.write_text("".join(f"{k.hex()} {v.hex()}\n" for k, v in self._entries.items()))
        new.rename(self._file)

    def get(self, key: bytes) -> bytes | None:
        return self._entries.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        self._entries[key] = value
        self._write()

    def delete(self, key: bytes) -> None:
        self._entries.pop(key, None)
        self._write()

    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        return [key for key in self._entries if key.startswith(prefix)], None

    def size(self) -> int:
        return sum(2 * len(key) + 2 * len(value) for key, value in self._entries.items())

    def close(self) -> None:
        self._entries = {}
