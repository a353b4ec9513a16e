"""`Cache.open`."""

import io
from typing import TYPE_CHECKING

from ..errors import InvalidArgument
from .reading import reader
from .writing import TextWriter, ValueWriter

if TYPE_CHECKING:
    from ..cache import Cache
    from ..lifetime import Ttl

_MODES = {"r": (False, True), "rt": (False, True), "rb": (False, False)} | {
    "w": (True, True),
    "wt": (True, True),
    "wb": (True, False),
}
"""Whether each writes, and whether it is text."""


def open_value(
    cache: "Cache",
    key: str | bytes,
    mode: str,
    encoding: str | None,
    errors: str | None,
    newline: str | None,
    ttl: "Ttl",
    has_ttl: bool,
) -> io.BufferedReader | io.TextIOWrapper | ValueWriter:
    if mode not in _MODES:
        words = ", ".join(f'"{word}"' for word in _MODES)
        raise InvalidArgument(f"mode is one of {words}, not {mode!r}")
    writes, is_text = _MODES[mode]
    if has_ttl and not writes:
        raise InvalidArgument("a time to live is for a value that is written")
    if not is_text and (encoding, errors, newline) != (None, None, None):
        raise InvalidArgument("encoding, errors and newline are for text, not for bytes")
    how = {"encoding": encoding or "utf-8", "errors": errors, "newline": newline}
    if writes:
        writer = ValueWriter(cache, key, ttl)
        if not is_text:
            return writer
        try:
            return TextWriter(writer, **how)
        except BaseException:
            writer.discard()
            raise
    opened = reader(cache, key)
    if not is_text:
        return opened
    try:
        return io.TextIOWrapper(opened, **how)  # type: ignore[arg-type]
    except BaseException:
        opened.close()
        raise
