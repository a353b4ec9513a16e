"""Names and defaults that diskcache's users import."""

from typing import Any, Final


class Constant(tuple[str]):
    """A value that stands for itself, and is shown by its name."""

    def __new__(cls, name: str) -> "Constant":
        return super().__new__(cls, (name,))

    def __repr__(self) -> str:
        return self[0]


ENOVAL: Final = Constant("ENOVAL")
"""No value: the default that tells a miss from a stored None."""

UNKNOWN: Final = Constant("UNKNOWN")
"""The key of a value that is stored before its key is known."""

MODE_NONE, MODE_RAW, MODE_BINARY, MODE_TEXT, MODE_PICKLE, MODE_TYPED, MODE_SAFE = range(7)
"""How a value is stored. Binary and text are what diskcache would have written to a file. The last
two are not diskcache's: a value of the type map that diskcache would have pickled, and text that
Django has marked safe."""

DEFAULT_SETTINGS: dict[str, Any] = {
    "statistics": 0,
    "tag_index": 0,
    "eviction_policy": "least-recently-stored",
    "size_limit": 2**30,
    "cull_limit": 10,
    "sqlite_auto_vacuum": 1,
    "sqlite_cache_size": 2**13,
    "sqlite_journal_mode": "wal",
    "sqlite_mmap_size": 2**26,
    "sqlite_synchronous": 1,
    "disk_min_file_size": 2**15,
    "disk_pickle_protocol": 5,
}
"""Those of SQLite are taken and kept, and have no effect."""

EVICTION_POLICY: dict[str, str | None] = {
    "none": None,
    "least-recently-stored": "store_time",
    "least-recently-used": "access_time",
    "least-frequently-used": "access_count",
}
"""What decides which entries go first, by policy."""
