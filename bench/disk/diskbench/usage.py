"""How much of the disk a folder takes."""

from __future__ import annotations

import os
from pathlib import Path

# stat counts in these, whatever the file system's block is.
BLOCK = 512


def allocated(folder: Path) -> int:
    """Bytes of all blocks, as `du` counts them: holes take nothing."""
    total = folder.stat().st_blocks * BLOCK
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                total += allocated(Path(entry.path))
            else:
                total += entry.stat(follow_symlinks=False).st_blocks * BLOCK
    return total
