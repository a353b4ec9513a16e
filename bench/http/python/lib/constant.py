"""A constant answer in memory: the framework's limit."""

import json

import redis
from answer import KEY, milliseconds, times
from redispy import SERVER


def constant_bytes() -> bytes:
    """Those of an answer and its times."""
    start = milliseconds()
    with redis.Redis(**SERVER) as client:
        value = client.xrange(KEY, "-", "+")
    return json.dumps({"value": value, **times(start)}, separators=(",", ":")).encode()
