"""Berkeley DB, by the package berkeleydb."""

import importlib
from pathlib import Path
from typing import Any

from .dbm_hash import HashStore
from .kinds import missing

try:
    berkeleydb: Any = importlib.import_module("berkeleydb")
except ImportError as error:
    raise missing("berkeleydb", "berkeleydb") from error


class BerkeleydbStore(HashStore):
    name = "berkeleydb"
    waits_for_room = True
    failures = (berkeleydb.db.DBError, OSError)

    def _opened(self, path: Path, flag: str) -> Any:
        return berkeleydb.hashopen(str(path), flag, 0o600)

    def flush(self) -> None:
        self._database.sync()
