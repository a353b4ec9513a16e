"""The stream that every server reads, in the benchmark's own Redis."""

from __future__ import annotations

import json
from typing import Any

from harness.redis_server import Redis
from harness.subject import ROOT

FILE = ROOT / "examples" / "http" / "stream.json"
KEY = "OPTIONS:test:STREAM"

# The form of a list of entries: [id, [field, value, ...]] each.
Entries = list[Any]

# INFO takes many lines; a script's number takes one.
COUNT_READS = """
local calls = string.match(redis.call('INFO', 'commandstats'), 'cmdstat_xrange:calls=(%d+)')
return tonumber(calls or 0)
"""
# As the page's stream came from a dump: entries that were added one by one keep spare space.
RESTORE = """
return redis.call('RESTORE', KEYS[1], 0, redis.call('DUMP', KEYS[1]), 'REPLACE')
"""


def entries() -> Entries:
    found: Entries = json.loads(FILE.read_text())
    return found


def fill(redis: Redis) -> None:
    """Puts the stream where it is missing."""
    wanted = entries()
    if redis.command("XLEN", KEY) == f":{len(wanted)}":
        return
    redis.command("DEL", KEY)
    for identifier, fields in wanted:
        redis.command("XADD", KEY, identifier, *fields)
    redis.command("EVAL", RESTORE, "1", KEY)


def memory_usage(redis: Redis) -> int:
    """Bytes, as Redis counts them."""
    return int(redis.command("MEMORY", "USAGE", KEY).removeprefix(":"))


def reads(redis: Redis) -> int:
    """How often the stream was read since Redis started."""
    return int(redis.command("EVAL", COUNT_READS, "0").removeprefix(":"))
