"""Free space that is looked at before a write, with a disk of the test's own."""

import errno
from pathlib import Path

import pytest

from polycache.stores.disk_room import DiskRoom

_MIB = 1 << 20


class Disk(DiskRoom):
    """A disk of so many bytes, on which a library writes nothing before it is told to."""

    def __init__(self, size: int, memory: int) -> None:
        super().__init__(Path(), memory, self._written)
        self.size = size
        self.held = 0
        self.written = 0

    def _written(self) -> None:
        self.size -= self.held
        self.held = 0
        self.written += 1

    def _free(self) -> int:
        return self.size

    def grow(self, cost: int) -> None:
        self.claim(cost)
        self.held += cost


def test_new_pages_stay_in_memory_where_there_is_room() -> None:
    disk = Disk(1024 * _MIB, memory=64 * _MIB)
    for _ in range(100_000):
        disk.grow(1000)
    assert disk.written == 0


def test_what_is_in_memory_never_exceeds_the_disk() -> None:
    disk = Disk(8 * _MIB, memory=64 * _MIB)
    grown = 0
    with pytest.raises(OSError) as full:
        while True:
            disk.grow(1000)
            grown += 1000
            assert disk.held <= disk.size
    assert full.value.errno == errno.ENOSPC
    assert disk.written > 0
    assert grown > 7 * _MIB
    # It is looked at anew each time until there is room.
    with pytest.raises(OSError):
        disk.grow(1000)
    disk.size += _MIB
    disk.grow(1000)
