"""What a server answered, compared with the stream's content."""

from __future__ import annotations

import html
import json
import re
import urllib.error
import urllib.request
from datetime import UTC, datetime
from typing import Any

from harness.worker import Unavailable

from .stream import Entries

# Seconds; a first answer may compile its route.
PATIENCE = 60
PAGE = re.compile("<pre>(.*?)</pre>", re.S)


def fetch(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as response:
            status, body = response.status, response.read().decode()
    except (OSError, urllib.error.HTTPError) as error:
        raise Unavailable(f"{url.rsplit(':', 1)[-1]}: {error}") from error
    if status != 200:
        raise Unavailable(f"it answered with status {status}")
    return str(body)


def check(body: str, wanted: Entries, alone: bool = False) -> None:
    """Raises Unavailable unless the body is an answer with just these entries, or these `alone`."""
    answer = _answer(body)
    # Servers of the value alone say so in their names.
    if alone:
        if _as_lists(answer) != wanted:
            raise Unavailable("the entries that it answered are not those of the stream")
        return
    if not isinstance(answer, dict) or set(answer) != {"value", "start", "end", "endDate"}:
        raise Unavailable("it did not answer {value, start, end, endDate}")
    if _as_lists(answer["value"]) != wanted:
        raise Unavailable("the entries in its answer are not those of the stream")
    if not 0 < answer["start"] <= answer["end"]:
        raise Unavailable(f"it read from {answer['start']} to {answer['end']}")
    date = datetime.fromisoformat(answer["endDate"]).astimezone(UTC)
    if abs(date.timestamp() * 1000 - answer["end"]) >= 1:
        raise Unavailable(f"its endDate {answer['endDate']} is not its end {answer['end']}")


def _answer(body: str) -> Any:
    """A route answers JSON, a page shows it."""
    page = PAGE.search(body)
    try:
        return json.loads(html.unescape(page[1]) if page else body)
    except ValueError as error:
        raise Unavailable("its answer is not JSON") from error


def _as_lists(value: Any) -> Any:
    """Clients give the same entries in shapes of their own: node-redis {id, message: {field:
    value}}, redis-py and redis-rb [id, {field: value}], ioredis what Redis sends, [id, [field,
    value, ...]]."""
    if not isinstance(value, list):
        return value
    return [_as_list(entry) for entry in value]


def _as_list(entry: Any) -> Any:
    match entry:
        case {"id": identifier, "message": dict(fields)}:
            pass
        case [identifier, dict(fields)]:
            pass
        case _:
            return entry
    return [identifier, [text for pair in fields.items() for text in pair]]
