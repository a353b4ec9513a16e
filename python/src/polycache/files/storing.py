"""`cache.set(key, file)`."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..durations import Duration
from ..errors import EntryTooLarge, UnsupportedValue, ValueTooLarge
from ..lifetime import lifetime
from ..missing import Missing
from .writing import ValueWriter

if TYPE_CHECKING:
    from ..cache import Cache

_PIECE = 1024 * 1024


def store_file(
    cache: "Cache",
    key: str | bytes,
    file: Any,
    ttl: Duration | Missing | None,
    expires_at: datetime | None,
) -> None:
    """Stores what can be read of a file. The native `set` calls it for a value with a `read`.

    Raises what `read` raises, and `UnsupportedValue` when that gives no bytes; then nothing has
    changed.
    """
    with ValueWriter(cache, key, lifetime(ttl, expires_at)) as writer:
        while piece := file.read(_PIECE):
            if not isinstance(piece, bytes | bytearray | memoryview):
                kind = type(piece).__qualname__
                raise UnsupportedValue(
                    f"the file's read gives a {kind}, not bytes: open it in binary mode"
                )
            try:
                writer.write(piece)
            except (EntryTooLarge, ValueTooLarge):
                # As for any value that was set: the old one is superseded.
                cache.delete(key)
                raise
