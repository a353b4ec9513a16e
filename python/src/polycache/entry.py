"""What a cache says of one entry."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key's value, and the facts of its entry. A cache without a path stores no bytes: `created`,
    `serializer` and `compressor` are None there, and `size` is an estimate."""

    value: Any
    """The value, as `get` gives it."""
    ttl: float
    """Seconds that the entry has left; infinite when it does not expire."""
    created: int | None
    """When it was written, in milliseconds since 1970."""
    expires: int | None
    """When it expires, in milliseconds since 1970; None when it does not."""
    size: int | None
    """Bytes of the entry as it is stored, header included; without a path its bytes in memory, or
    None when nothing is weighed."""
    serializer: str | None
    """The serializer."""
    compressor: str | None
    """The compressor: "none" or "zstd"."""
    version: int
    """Identifies the entry for `compare_and_set`: each write and touch of the key, by any process,
    gives it another. Versions have no order, and mean nothing after the machine restarted."""
