"""Ranges of a Redis stream's ids, from a request's query."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs

from ..errors import InvalidArgument
from .problem import HttpProblem

_ID = re.compile(r"(\(?)([0-9]{1,20})(?:-([0-9]{1,20}))?")
_LARGEST = 2**64 - 1


@dataclass(frozen=True, slots=True)
class StreamRange:
    """Which entries of a stream are asked for, as XRANGE takes them."""

    start: str
    end: str
    count: int


def stream_range(query: str, *, max_count: int = 10_000) -> StreamRange:
    """Reads `start`, `end` and `count` of a query, as it stands in a URL behind the question mark.

    Ids are Redis' own: `1700000000010-0`, `1700000000010` for all of a millisecond, and one of
    these behind `(` for what comes after; `-` and `+` are the ends, and `end=+` may stay as it is
    though a plus in a query means a space. `max_count` also counts where the query names no count.

    Raises HttpProblem with status 400 and the member `parameter` for what is given twice, is no id,
    or is no count from 1 to `max_count`.
    """
    if not isinstance(max_count, int) or max_count < 1:
        raise InvalidArgument("max_count is a number from 1 on")
    given = parse_qs(query, keep_blank_values=True)
    start = _id(given, "start", "-")
    return StreamRange(start, _id(given, "end", "+"), _count(given, max_count))


def _only(given: dict[str, list[str]], name: str) -> str | None:
    values = given.get(name, [])
    if len(values) > 1:
        raise _refused(name, "is given more than once")
    return values[0] if values else None


def _id(given: dict[str, list[str]], name: str, without: str) -> str:
    text = _only(given, name)
    if text is None:
        return without
    if text in ("-", "+"):
        return text
    if text == " ":
        return "+"
    match = _ID.fullmatch(text)
    left, ms, sequence = (match[1], int(match[2]), match[3]) if match else ("", _LARGEST + 1, None)
    if ms > _LARGEST or int(sequence or 0) > _LARGEST:
        raise _refused(name, "is no id: write 1700000000010-0, (1700000000010-0, - or +")
    if left and _is_last(name, ms, sequence):
        raise _refused(name, "leaves out the last id that there is, so nothing is left")
    return text


def _is_last(name: str, ms: int, sequence: str | None) -> bool:
    """Redis refuses to go beyond these."""
    if name == "end":
        return ms == 0 and int(sequence or 0) == 0
    return ms == _LARGEST and (sequence is None or int(sequence) == _LARGEST)


def _count(given: dict[str, list[str]], max_count: int) -> int:
    text = _only(given, "count")
    if text is None:
        return max_count
    count = int(text) if re.fullmatch("[0-9]{1,15}", text) else 0
    if not 1 <= count <= max_count:
        raise _refused("count", f"is no whole number from 1 to {max_count}")
    return count


def _refused(parameter: str, why: str) -> HttpProblem:
    return HttpProblem(400, f"The parameter {parameter} {why}.", {"parameter": parameter})
