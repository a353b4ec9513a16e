"""Keys as bytes, and back.

The first byte is the kind: `s` text, `b` bytes, `i` a whole number of 64 bits, `f` another float,
`c` a compound of the type map, `p` a pickle. The bytes of numbers are in the order of the numbers.
Equal keys have equal bytes: 1.0 is `i`, as SQLite takes it. But a tuple is not its list, and True
is not 1.
"""

import struct
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from ..errors import InvalidKey, MalformedEntry
from .errors import PickleNeeded
from .pickling import refused

LEAST, MOST = -(2**63), 2**63 - 1
DEPTH = 100
"""Of compounds in compounds."""


def raw_code(key: Any) -> bytes | None:
    """The bytes of a key that diskcache stores as it is, or None for another one."""
    kind = type(key)
    if kind is str:
        try:
            return b"s" + cast(str, key).encode()
        except UnicodeEncodeError:
            raise InvalidKey("a key with a lone surrogate has no UTF-8 form") from None
    if kind is int:
        return b"i" + int(key - LEAST).to_bytes(8) if LEAST <= key <= MOST else None
    if kind is bytes:
        return b"b" + cast(bytes, key)
    if kind is float:
        if key.is_integer() and LEAST <= key <= MOST:
            # 2.0**63 is above the largest integer, and compares as equal to it.
            whole = int(key)
            if whole <= MOST:
                return b"i" + (whole - LEAST).to_bytes(8)
        return exact_float(key)
    return None


def exact_float(key: float) -> bytes:
    """The bytes of a float itself; in an order that is that of the numbers."""
    bits: int = struct.unpack(">q", struct.pack(">d", key))[0]
    return b"f" + ((bits ^ MOST if bits < 0 else bits) - LEAST).to_bytes(8)


def compound_code(key: Any) -> bytes:
    """The bytes of another key of the type map. Raises `PickleNeeded`."""
    return b"c" + _encoded(key, 0)


def key_of(code: bytes) -> Any:
    """The key of bytes that are no pickle. Raises `MalformedEntry`."""
    kind, rest = code[:1], code[1:]
    try:
        if kind == b"s":
            return rest.decode()
        if kind == b"b":
            return rest
        if kind == b"i":
            return int.from_bytes(rest) + LEAST
        if kind == b"f":
            bits = int.from_bytes(rest) + LEAST
            return struct.unpack(">d", struct.pack(">q", bits ^ MOST if bits < 0 else bits))[0]
        if kind == b"c":
            key, end = _decoded(rest, 0, 0)
            if end == len(rest):
                return key
    except (ValueError, struct.error, ArithmeticError, TypeError, IndexError):
        pass
    raise MalformedEntry("the bytes of a stored key are damaged")


def sorting(code: bytes) -> tuple[int, Any, bytes]:
    """Sorts keys as SQLite does: numbers, then text, then bytes and all others."""
    kind = code[:1]
    if kind in b"if":
        number = key_of(code)
        # Not a number comes first, as NULL does.
        return (0, 0, code) if number != number else (1, number, code)
    return (2 if kind == b"s" else 3, code[1:], code)


def _sized(kind: bytes, payload: bytes) -> bytes:
    return kind + len(payload).to_bytes(4) + payload


def _encoded(value: Any, depth: int) -> bytes:
    kind = type(value)
    if value is None:
        return b"N"
    if kind is bool:
        return b"T" if value else b"F"
    if kind is int:
        return _sized(b"I", value.to_bytes(value.bit_length() // 8 + 1, signed=True))
    if kind is float:
        return b"D" + struct.pack(">d", value)
    if kind is str:
        try:
            return _sized(b"S", value.encode())
        except UnicodeEncodeError:
            raise refused("the key holds text with a lone surrogate") from None
    if kind is bytes:
        return _sized(b"B", value)
    if kind is Decimal:
        return _sized(b"M", str(value).encode())
    if kind is UUID:
        return b"U" + cast(UUID, value).bytes
    if kind is datetime and value.tzinfo is not None:
        return _sized(b"A", value.astimezone(UTC).isoformat().encode())
    if depth == DEPTH:
        raise refused(f"the key has more than {DEPTH} levels")
    if kind is tuple or kind is list:
        parts = [_encoded(part, depth + 1) for part in value]
        return (b"(" if kind is tuple else b"[") + len(parts).to_bytes(4) + b"".join(parts)
    if kind is dict:
        pairs = [
            _encoded(name, depth + 1) + _encoded(part, depth + 1) for name, part in value.items()
        ]
        return b"{" + len(pairs).to_bytes(4) + b"".join(pairs)
    if kind is set or kind is frozenset:
        parts = sorted(_encoded(part, depth + 1) for part in value)
        return (b"<" if kind is set else b"z") + len(parts).to_bytes(4) + b"".join(parts)
    raise refused(f"a key cannot hold {kind.__module__}.{kind.__qualname__} without pickle")


_BY_NAME = {b"N": None, b"T": True, b"F": False}
_MANY = {b"(": tuple, b"[": list, b"<": set, b"z": frozenset}


def _decoded(data: bytes, at: int, depth: int) -> tuple[Any, int]:
    kind = data[at : at + 1]
    at += 1
    if kind in _BY_NAME:
        return _BY_NAME[kind], at
    if kind == b"D":
        return struct.unpack(">d", data[at : at + 8])[0], at + 8
    if kind == b"U":
        return UUID(bytes=data[at : at + 16]), at + 16
    size = int.from_bytes(data[at : at + 4])
    at += 4
    # Each part has a byte at least, so hostile bytes cannot ask for more than they bring.
    if size > len(data) - at:
        raise ValueError
    if kind in b"ISBMA":
        payload, end = data[at : at + size], at + size
        if kind == b"I":
            return int.from_bytes(payload, signed=True), end
        if kind == b"B":
            return payload, end
        text = payload.decode()
        if kind == b"M":
            return Decimal(text), end
        return (datetime.fromisoformat(text) if kind == b"A" else text), end
    if depth == DEPTH:
        raise ValueError
    if kind == b"{":
        pairs = {}
        for _ in range(size):
            name, at = _decoded(data, at, depth + 1)
            pairs[name], at = _decoded(data, at, depth + 1)
        return pairs, at
    parts = []
    for _ in range(size):
        part, at = _decoded(data, at, depth + 1)
        parts.append(part)
    return _MANY[kind](parts), at


__all__ = ["PickleNeeded", "compound_code", "exact_float", "key_of", "raw_code", "sorting"]
