"""Replies in the memory of this process, each served while a read on this host would find it."""

import marshal
from sys import getsizeof
from typing import Any

from .. import _native
from ..errors import InvalidArgument
from ..memory_cache import MemoryCache

_OVERHEAD = 200
"""Bytes that an entry takes beside its value and its call, roughly."""
FORMAT = 4
"""The version of marshal's format, which is the same in every Python that runs this package."""
_WORDS = (str, bytes, int, float)
_UNCHANGEABLE = frozenset((str, bytes, int, float, bool, type(None)))


class Copied:
    """A reply of which each caller gets a copy of its own: its bytes."""

    __slots__ = ("packed",)

    def __init__(self, packed: bytes) -> None:
        self.packed = packed


def pack(value: Any) -> bytes | None:
    """What the client made of a reply, as bytes for other processes of this host; None for what has
    instances of other classes in it than Python's own."""
    try:
        return marshal.dumps(value, FORMAT)
    except ValueError:
        return None


def unpack(packed: bytes) -> Any:
    """The value of bytes that `pack` made. They are as trusted as the directory, whose owner wrote
    them, and whose checksums hold."""
    return marshal.loads(packed)


def handed_out(kept: Any) -> Any:
    """What a caller gets of what `isolate` gave."""
    return unpack(kept.packed) if type(kept) is Copied else kept


class KeptReplies:
    def __init__(self, reads: _native.Reads, options: dict[str, Any]) -> None:
        given = dict(options)
        isolation = given.pop("isolation", "clone")
        if isolation not in ("clone", "none"):
            raise InvalidArgument(f"isolation is clone or none, not {isolation!r}")
        self._shares = isolation == "none"
        entries = given.pop("max_entries", 10_000)
        given.setdefault("max_bytes", "64MiB")
        self._reads = reads
        self._memory: MemoryCache[Any, Any] = MemoryCache(
            entries, isolation="none", weigher=_weight, **given
        )

    def get(self, call: object) -> tuple[Any, _native.ReadOrigin, int] | None:
        """What may be served for a call, as it is isolated, in a tuple."""
        found: tuple[Any, _native.ReadOrigin, int] | None = self._memory.get(call)
        if found is None or not self._reads.stands(found[1]):
            return None
        return found

    def isolate(self, value: Any, packed: bytes | None) -> Any:
        """What every caller gets of a reply: one object where nobody can change it, else copies."""
        if self._shares or packed is None or type(value) in _UNCHANGEABLE:
            return value
        return Copied(packed)

    def put(self, call: object, kept: Any, origin: _native.ReadOrigin, size: int) -> None:
        """Keeps what was found there."""
        try:
            self._memory.set(call, (kept, origin, size))
        except ValueError:
            # It is larger than all that is kept may be.
            self._memory.delete(call)

    def clear(self) -> None:
        self._memory.clear()


def _weight(call: Any, value: Any) -> int:
    return int(value[2]) + _size(call) + _OVERHEAD


def _size(call: Any) -> int:
    """Bytes of the words of a call, which may be far larger than the reply."""
    if type(call) is tuple:
        return getsizeof(call) + sum(map(_size, call))
    # Types and constants are others' too.
    return getsizeof(call) if type(call) in _WORDS else 0
