"""What a cache says of one entry."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A key's value, and what its entry says. In a cache without a path nothing becomes bytes:
    `created`, `serializer` and `compressor` are None there, and `size` is an estimate."""

    value: Any
    """The value, as `get` gives it."""
    ttl: float
    """Seconds that the entry has left; infinite when it does not expire."""
    created: int | None
    """When it was written, in milliseconds since 1970."""
    expires: int | None
    """When it expires, in milliseconds since 1970; None when it does not."""
    size: int | None
    """Bytes of the entry as it is stored, header included; without a path what it takes in memory,
    None when nothing is weighed."""
    serializer: str | None
    """What made bytes of the value."""
    compressor: str | None
    """What made the bytes fewer: "none" or "zstd"."""
