"""Free space, looked at before a write: Berkeley DB tries for ever to write a page for which there
is none."""

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path

_RESERVE = 1 << 20
"""Bytes that stay free: pages that the library has changed and not written yet."""


class DiskRoom:
    def __init__(
        self, folder: Path, look: int = 1 << 18, write_out: Callable[[], object] | None = None
    ) -> None:
        """After `look` bytes it looks again, or after a quarter of what is free; before that, what
        the library still has in memory is written, if `write_out` does that."""
        self._folder = folder
        self._look = look
        self._write_out = write_out
        self._unlooked = 0

    def claim(self, cost: int) -> None:
        """Before a file may grow by `cost` bytes. OSError with ENOSPC: there is no room."""
        self._unlooked -= cost
        if self._unlooked >= 0:
            return
        # Stays so, if this fails.
        self._unlooked = 0
        if self._write_out:
            self._write_out()
        free = self._free() - _RESERVE
        if free < cost:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))
        self._unlooked = min(free // 4, self._look)

    def _free(self) -> int:
        disk = os.statvfs(self._folder)
        free: int = disk.f_bavail * disk.f_frsize
        largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if largest == resource.RLIM_INFINITY:
            return free
        # This process may make no file larger than that.
        sizes = [file.stat().st_size for file in self._folder.iterdir()]
        return min(free, largest - max(sizes, default=0))
