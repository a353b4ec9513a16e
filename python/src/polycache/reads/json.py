"""A reply as JSON: the bytes that TypeScript makes of the same reply."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
# json.dumps would make an encoder for each text.
_TEXT = json.JSONEncoder(ensure_ascii=False).encode
_LARGEST_INDEX = 2**32 - 2
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")


def json_of(value: Any) -> bytes:
    """Lists, tuples and dicts as the client has them, bytes as UTF-8 text in which the replacement
    character stands for what is none. A set, which has no order, is a list in the order of its
    texts, so that all processes make the same of it."""
    return _text(value).encode()


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        text = _TEXT(value)
        return text if text.isascii() else _SURROGATE.sub(lambda one: f"\\u{ord(one[0]):04x}", text)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, dict):
        return _object(value)
    if isinstance(value, (list, tuple)):
        return _list(map(_text, value))
    if isinstance(value, (set, frozenset)):
        return _list(sorted(map(_text, value)))
    raise TypeError(f"a reply has no {type(value).__name__}")


def _list(texts: Iterable[str]) -> str:
    return f"[{','.join(texts)}]"


def _object(value: dict[Any, Any]) -> str:
    members = {_name(name): one for name, one in value.items()}
    # An object of JavaScript has names that are indexes first.
    indexes = sorted((name for name in members if _is_index(name)), key=int)
    if indexes:
        members = {name: members[name] for name in indexes} | members
    return "{" + ",".join(f"{_text(name)}:{_text(one)}" for name, one in members.items()) + "}"


def _name(name: Any) -> str:
    if isinstance(name, bytes):
        return name.decode("utf-8", "replace")
    return name if isinstance(name, str) else _text(name)


def _is_index(name: str) -> bool:
    return _INDEX.fullmatch(name) is not None and int(name) <= _LARGEST_INDEX


def _number(value: float) -> str:
    """As ECMAScript writes numbers (Number::toString)."""
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, part = mantissa.lstrip("-").partition(".")
    part = "" if part == "0" else part
    digits = whole + part
    # The number is 0.digits times ten to the power of `point`.
    point = len(whole) + int(exponent or 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"
