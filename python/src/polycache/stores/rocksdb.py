"""RocksDB, by the package rocksdict: compressed, and quick to write. One process has it open."""

from contextlib import suppress
from typing import Any

from ..errors import ReadOnly
from .kinds import missing
from .store import Durability, Opening, Store

try:
    import rocksdict
except ImportError as error:
    raise missing("rocksdict", "rocksdb") from error

_PAGE = 256
"""Keys of a page."""
_SMALLEST_BUFFER = 64 * 1024


def _write_options(durability: Durability) -> Any:
    options: Any = _new_write_options()
    options.sync = durability == "synced"
    options.disable_wal = durability == "none"
    return options


def _new_write_options() -> Any:
    """Without a type: the package's stub takes a property for a method."""
    return rocksdict.WriteOptions()


class RocksdbStore(Store):
    name = "rocksdb"
    durabilities = ("kill", "synced", "none")
    processes = False
    max_value = 2**31

    def __init__(self, opening: Opening) -> None:
        if opening.read_only:
            raise ReadOnly(
                "RocksDB writes files beside its tables even to read, and may not in "
                f"{opening.folder}"
            )
        options = rocksdict.Options(raw_mode=True)
        options.create_if_missing(True)
        options.set_compression_type(rocksdict.DBCompressionType.lz4())
        # What is not yet in a table, and the log of it, are parts of the limit, too.
        buffer = min(max(opening.limit // 16, _SMALLEST_BUFFER), 64 << 20)
        options.set_write_buffer_size(buffer)
        options.set_target_file_size_base(buffer)
        options.set_max_bytes_for_level_base(4 * buffer)
        options.set_max_total_wal_size(2 * buffer)
        options.set_max_manifest_file_size(_SMALLEST_BUFFER)
        options.set_keep_log_file_num(1)
        options.set_max_log_file_size(_SMALLEST_BUFFER)
        self._db: Any = rocksdict.Rdict(str(opening.folder), options=options)
        self._db.set_write_options(_write_options(opening.durability))

    def get(self, key: bytes) -> bytes | None:
        found: bytes | None = self._db.get(key)
        return found

    def put(self, key: bytes, value: bytes) -> None:
        self._db.put(key, value)

    def delete(self, key: bytes) -> None:
        self._db.delete(key)

    def scan(self, prefix: bytes, cursor: bytes | None) -> tuple[list[bytes], bytes | None]:
        keys: list[bytes] = []
        place = self._db.iter()
        if cursor is None:
            place.seek(prefix) if prefix else place.seek_to_first()
        else:
            place.seek(cursor)
            if place.valid() and place.key() == cursor:
                place.next()
        while place.valid() and len(keys) < _PAGE:
            key = place.key()
            if not key.startswith(prefix):
                return keys, None
            keys.append(key)
            place.next()
        return keys, keys[-1] if place.valid() and keys else None

    def size(self) -> int:
        tables = self._db.property_int_value("rocksdb.total-sst-files-size") or 0
        memory = self._db.property_int_value("rocksdb.cur-size-all-mem-tables") or 0
        return int(tables + memory)

    def reclaim(self) -> None:
        self._db.flush(True)
        self._db.compact_range(None, None)

    def close(self) -> None:
        self._db.close()

    def flush(self) -> None:
        with suppress(AttributeError):
            self._db.flush(True)
