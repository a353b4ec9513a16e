"""Free space, looked at before a write: Berkeley DB tries for ever to write a page for which there
is none."""

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path

_RESERVE = 1 << 20
"""Bytes that stay free: pages that the library has changed and not written yet."""
_LOOK = 1 << 18
"""Bytes by which a file may grow before the next look, and at most a quarter of what is free."""


class DiskRoom:
    def __init__(
        self, folder: Path, memory: int = 0, write_out: Callable[[], object] | None = None
    ) -> None:
        """`memory`: bytes of new pages that the library may have, beyond the reserve, before it
        writes any. `write_out` writes them, where the disk has hardly room for so many."""
        self._folder = folder
        self._memory = memory
        self._write_out = write_out
        self._unlooked = 0
        self._unwritten = 0

    def claim(self, cost: int) -> None:
        """Before a file may grow by `cost` bytes. OSError with ENOSPC: there is no room."""
        self._unwritten = min(self._unwritten + cost, self._memory)
        self._unlooked -= cost
        if self._unlooked >= 0:
            return
        # Stays so, if this fails.
        self._unlooked = 0
        free = self._free() - self._unwritten
        if free < max(cost, _LOOK) and self._write_out:
            self._write_out()
            self._unwritten = 0
            free = self._free()
        if free < cost:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))
        self._unlooked = min(free // 4, _LOOK)

    def _free(self) -> int:
        """Without the reserve."""
        disk = os.statvfs(self._folder)
        free: int = disk.f_bavail * disk.f_frsize - _RESERVE
        largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if largest == resource.RLIM_INFINITY:
            return free
        # This process may make no file larger than that.
        sizes = [file.stat().st_size for file in self._folder.iterdir()]
        return min(free, largest - max(sizes, default=0) - _RESERVE)
