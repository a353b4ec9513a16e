"""What every server answers: the stream's entries, and when reading them began and ended."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

KEY = "OPTIONS:test:STREAM"


def milliseconds() -> int:
    return time.time_ns() // 1_000_000


def times(start: int) -> dict[str, Any]:
    """Of a reading that ends now. Times are in ms since 1970."""
    end = milliseconds()
    date = datetime.fromtimestamp(end / 1000, UTC).isoformat(timespec="milliseconds")
    return {"start": start, "end": end, "endDate": date.replace("+00:00", "Z")}


async def answer(read: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
    start = milliseconds()
    value = await read()
    return {"value": value, **times(start)}
