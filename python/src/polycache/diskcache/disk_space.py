"""The space that a nearly full disk leaves to a directory.

The host store never fails a write while it has something to recycle, so on a full disk it would
give up entries that nobody deleted. What is stored here is asked for before.
"""

import os
from pathlib import Path

MIB = 2**20
OWN_BYTES = 3 * 2**18
"""Bytes of an empty directory."""
PLENTY = 1024 * MIB
"""Bytes of a disk that are free when nothing has to be counted."""
_LARGEST_BLOCK = 16 * MIB
_HEAD = 1024
"""Bytes of a block, at most, that are no values."""
_TO_CLEAN = 8
"""Blocks that the host store is left with for moving what lives: with fewer it gives entries up."""
_TIMES_FREE = 4
"""How much larger than what is free a limit may be. A sixteenth of that is kept back then."""
_LEVEL = 16
"""How much larger the next level of the host store's index may be."""


def fitting(limit: int, least: int, folder: str) -> int:
    """The limit of a new host store in a folder, or less on a small disk: the blocks of a large
    limit are large, and those that are kept back would be all that there is."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return limit
    return min(limit, max(disk.f_bavail * disk.f_frsize * _TIMES_FREE, least))


def space(store: str, limit: int) -> int:
    """Bytes that the host store in a folder may take: its limit, or what it has and may still get
    from the disk."""
    try:
        disk = os.statvfs(store)
    except OSError:
        return limit
    free = disk.f_bavail * disk.f_frsize
    if free >= PLENTY:
        return limit
    has = index = to_come = 0
    for folder, _, names in os.walk(store):
        for name in names:
            try:
                found = os.stat(Path(folder) / name)
            except FileNotFoundError:
                continue
            taken = found.st_blocks * 512
            has += taken
            if name == "index":
                index += taken
                to_come += max(found.st_size - taken, 0)
    # The index grows by levels, and both by whole blocks.
    free -= min(to_come, index * _LEVEL)
    block = _block(limit)
    return max(min(has + (max(free, 0) // block - _TO_CLEAN) * block, limit), 0)


def taken(size: int, limit: int) -> int:
    """Bytes of a host store's blocks that are lost for others with a value of so many."""
    block = _block(limit)
    whole = block - _HEAD
    if size > whole:
        return -(-size // whole) * block
    return block // (whole // size)


def _block(limit: int) -> int:
    return min(max(limit // 512, 2**16), _LARGEST_BLOCK)
