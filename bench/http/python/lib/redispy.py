"""The stream through redis-py. Its asyncio client has a pool: each request that waits has a
connection of its own."""

import os
from collections.abc import Awaitable, Callable
from typing import Any

import redis.asyncio
from answer import KEY

SERVER: dict[str, Any] = {
    "host": "127.0.0.1",
    "port": int(os.environ["REDIS_PORT"]),
    "decode_responses": True,
}


def connect() -> redis.asyncio.Redis:
    return redis.asyncio.Redis(**SERVER)


def reader() -> Callable[[], Awaitable[Any]]:
    """Entries as redis-py gives them, (id, {field: value}): 41,714 bytes of JSON."""
    client = connect()
    return lambda: client.xrange(KEY, "-", "+")
