"""Directories that are not ours to write to."""

from pathlib import Path

from ..errors import ForeignDirectory
from .errors import OldDirectory

STORE, CONTROL = "store", "control"
"""What a directory of ours holds."""
_DATABASE = "cache.db"
_VERSIONS = "v[0-9]*"


def refuse_foreign(directory: str) -> None:
    """Raises `OldDirectory` for a directory of diskcache's, and `ForeignDirectory` for one of
    `polycache.Cache`. What was opened here before is ours, whatever else was put there since."""
    path = Path(directory)
    control = path / CONTROL
    if control.is_file():
        return
    # Either name is in the way.
    if control.exists():
        raise ForeignDirectory(f"{control} is another program's")
    # The shards of a FanoutCache are folders of three digits.
    if any((path / name).exists() for name in (_DATABASE, f"{STORE}/{_DATABASE}")) or any(
        path.glob(f"[0-9][0-9][0-9]/{_DATABASE}")
    ):
        raise OldDirectory(
            f"{directory} is a directory of diskcache's; take its entries over with: polycache "
            f"import {directory} <new directory>, or choose another directory"
        )
    if any((one / "index").is_file() for one in path.glob(_VERSIONS)):
        raise ForeignDirectory(
            f"{directory} is a directory of polycache.Cache; choose another one for "
            "polycache.diskcache"
        )
