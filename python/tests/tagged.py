"""Tagged JSON, the form that values have in spec/vectors and spec/conformance (spec/entry.md)."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from polycache import Named

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def value_of(tagged: Any) -> Any:
    """The value; what lies below a microsecond is cut off."""
    if not isinstance(tagged, dict):
        assert tagged is None or isinstance(tagged, bool | str), tagged
        return tagged
    ((tag, held),) = tagged.items()
    match tag:
        case "int":
            return int(held)
        case "float":
            return float(held)
        case "bytes":
            return bytes.fromhex(held)
        case "list":
            return [value_of(one) for one in held]
        case "set":
            # A list in a set stands for a tuple.
            return {tuple(one) if isinstance(one, list) else one for one in map(value_of, held)}
        case "map":
            return {key: value_of(value) for key, value in held}
        case "timestamp":
            seconds, nanos = held
            return EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
        case "decimal":
            return Decimal(held)
        case "uuid":
            return UUID(hex=held)
        case "named":
            name, value = held
            return Named(name, value_of(value))
        case "repeat":
            text, times = held
            return text * times
        case "invalid_text":
            # Text without a UTF-8 form, in the conformance cases only.
            return "\ud800"
    raise AssertionError(f"an unknown tag: {tag}")


def tagged_of(value: Any) -> Any:
    """The tagged form, in which 1, 1.0 and True differ and a NaN equals itself."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return {"int": str(value)}
        case float():
            return {"float": repr(value) if math.isfinite(value) else str(value)}
        case bytes():
            return {"bytes": value.hex()}
        case list() | tuple():
            return {"list": [tagged_of(one) for one in value]}
        case set() | frozenset():
            return {"set": sorted((tagged_of(one) for one in value), key=repr)}
        case dict():
            return {"map": [[key, tagged_of(held)] for key, held in value.items()]}
        case datetime():
            since = value - EPOCH
            seconds = since.days * 86_400 + since.seconds
            return {"timestamp": [seconds, since.microseconds * 1000]}
        case Decimal():
            return {"decimal": str(value)}
        case UUID():
            return {"uuid": value.hex}
        case Named(name, held):
            return {"named": [name, tagged_of(held)]}
    raise AssertionError(f"not a value: {value!r}")


def as_python_has_it(tagged: Any) -> Any:
    """The tagged form of what this becomes in Python, to compare with."""
    return tagged_of(value_of(tagged))
