"""The stream that the servers read, and a client that knows nothing of caches."""

from __future__ import annotations

import json
from typing import Any

from driver.server import Server

from .program import FOLDER

KEY = "OPTIONS:test:STREAM"
FILE = FOLDER / "stream.json"

COUNT_READS = """
local calls = string.match(redis.call('INFO', 'commandstats'), 'cmdstat_xrange:calls=(%d+)')
return tonumber(calls or 0)
"""


def entries() -> list[Any]:
    """`[id, [field, value, ...]]` each, as XRANGE replies."""
    found: list[Any] = json.loads(FILE.read_text())
    return found


def fill(redis: Server) -> None:
    for identifier, fields in entries():
        redis.command("XADD", KEY, identifier, *fields)


def reads(redis: Server) -> int:
    """How often the stream was read since the server started."""
    return int(redis.command("EVAL", COUNT_READS, "0").removeprefix(":"))
