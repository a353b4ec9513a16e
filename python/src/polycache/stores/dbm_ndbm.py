"""ndbm, by Python's dbm.ndbm: Berkeley DB's hash files, or gdbm's, as the Python was built."""

from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from .dbm_file import DbmStore

try:
    import dbm.ndbm as ndbm
except ImportError as error:
    raise InvalidArgument(
        'store="dbm.ndbm" needs a Python that was built with ndbm; store="dbm" is in every one'
    ) from error


class NdbmStore(DbmStore):
    name = "dbm.ndbm"
    waits_for_room = True
    failures = (ndbm.error, OSError)

    def _opened(self, path: Path, flag: str) -> Any:
        return ndbm.open(str(path), flag, 0o600)
