"""Lets the tests import what run.py and the subjects import."""

import os
import sys
from pathlib import Path

import pytest

DISK = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(DISK.parent), str(DISK.parent / "serve"), str(DISK)]

from diskbench.store import Place, Store  # noqa: E402


class Files(Store):
    """A file a key, which appears with all its bytes."""

    name = "files"

    def __init__(self, place):
        self.folder = place.directory

    def set(self, key, value):
        # Every process has its own: they write the same keys at once.
        draft = self.folder / f"{key}.{os.getpid()}"
        draft.write_text(value)
        draft.rename(self.folder / key)

    def get(self, key):
        try:
            return (self.folder / key).read_text()
        except FileNotFoundError:
            return None

    def delete(self, key):
        (self.folder / key).unlink()

    def close(self):
        pass


@pytest.fixture
def files():
    return Files


@pytest.fixture
def place(tmp_path):
    (tmp_path / "store").mkdir()
    return Place(tmp_path / "store", 20, 100)
