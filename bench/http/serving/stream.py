"""The stream that every server reads, in the benchmark's own Redis."""

from __future__ import annotations

import functools
import json
import socket
from collections.abc import Sequence
from typing import Any

from harness.redis_server import PATIENCE, Redis
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
PROCESSOR_TIME = """
local said = redis.call('INFO', 'cpu')
local function of(kind) return tonumber(string.match(said, 'used_cpu_' .. kind .. ':([%d.]+)')) end
return math.floor((of('sys') + of('user')) * 1e6)
"""
CURRENT = "return cjson.encode(redis.call('XRANGE', KEYS[1], '-', '+'))"
# As the page's stream came from a dump: entries that were added one by one keep spare space.
RESTORE = """
return redis.call('RESTORE', KEYS[1], 0, redis.call('DUMP', KEYS[1]), 'REPLACE')
"""


@functools.cache
def entries() -> Entries:
    """Those of the file."""
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


def append(redis: Redis, identifier: str, fields: Sequence[str]) -> None:
    """Adds an entry; the oldest one goes."""
    words = ["XADD", KEY, "MAXLEN", str(len(entries())), identifier, *fields]
    said = redis.command(*words)
    if not said.startswith("$"):
        raise RuntimeError(f"XADD: {said}")


def current(redis: Redis) -> Entries:
    """What the stream holds now."""
    words = ["EVAL", CURRENT, "1", KEY]
    with socket.create_connection(("127.0.0.1", redis.port), timeout=PATIENCE) as connection:
        parts = [f"${len(word)}\r\n{word}\r\n" for word in words]
        connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
        with connection.makefile("rb") as reply:
            size = int(reply.readline().removeprefix(b"$"))
            found: Entries = json.loads(reply.read(size))
    return found


def processor_time(redis: Redis) -> float:
    """Seconds that Redis has used since it started."""
    return int(redis.command("EVAL", PROCESSOR_TIME, "0").removeprefix(":")) / 1e6
