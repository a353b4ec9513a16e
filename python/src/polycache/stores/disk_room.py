"""Free space, looked at before a write: Berkeley DB tries for ever to write a page for which there
is none."""

import errno
import os
import resource
from pathlib import Path

_RESERVE = 1 << 20
"""Bytes that stay free: pages that the library has changed and not written yet."""
_LOOK = 1 << 18
"""Bytes that are written before the next look, and at most a quarter of what is free."""
_PAGE = 4096


class DiskRoom:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unlooked = 0

    def claim(self, size: int) -> None:
        """Before `size` bytes are written. OSError with ENOSPC: there is no room."""
        cost = size + 2 * _PAGE
        self._unlooked -= cost
        if self._unlooked >= 0:
            return
        free = self._free() - _RESERVE
        if free < cost:
            self._unlooked = 0
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))
        self._unlooked = min(free // 4, _LOOK)

    def _free(self) -> int:
        disk = os.statvfs(self._folder)
        free: int = disk.f_bavail * disk.f_frsize
        largest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
        if largest == resource.RLIM_INFINITY:
            return free
        # This process may make no file larger than that.
        sizes = [file.stat().st_size for file in self._folder.iterdir()]
        return min(free, largest - max(sizes, default=0))
