"""How reads are called."""

from collections.abc import Iterable, Sequence
from typing import Any

_PLAIN = frozenset((str, bytes, int, float, bool, type(None)))


def name_of(shape: str, keys: Sequence[bytes], words: Iterable[bytes]) -> bytes:
    """A read's name on this host: its keys, the shape of its reply, all of its words."""
    parts = [len(keys).to_bytes(2, "little")]
    for word in (*keys, shape.encode(), *words):
        parts.append(len(word).to_bytes(4, "little"))
        parts.append(word)
    return b"".join(parts)


def call_of(
    space: object, method: str, args: tuple[Any, ...], options: dict[str, Any]
) -> object | None:
    """What tells a call from all others of the same client, without asking the client for its
    words; None where only the words can. 1, 1.0 and True are equal, and become other words."""
    try:
        given = tuple([_part(one) for one in args])
        named = tuple([(name, _part(one)) for name, one in options.items()]) if options else ()
    except TypeError:
        return None
    return (space, method, given, named)


def _part(one: Any) -> object:
    kind = type(one)
    if kind is str:
        return one
    if kind in _PLAIN:
        return (kind, one)
    if kind is list or kind is tuple:
        return (kind, tuple([_part(part) for part in one]))
    if kind is dict:
        return (kind, tuple([(_part(name), _part(part)) for name, part in one.items()]))
    raise TypeError
