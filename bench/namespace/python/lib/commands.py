"""The page's operations as redis-py is called: each makes one round trip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dataset import FIELDS, ITEMS, MEMBERS, PAIR, SCORES, STRING, TEN, Dataset

Operation = Callable[[], Any]


def operations(client: Any, data: Dataset) -> dict[str, Operation]:
    def transaction() -> Any:
        with client.pipeline() as both:
            return both.set(data.first, STRING).set(data.second, STRING).execute()

    return {
        "SET": lambda: client.set(data.key, STRING),
        "GET": lambda: client.get(data.key),
        "MGET (10 keys)": lambda: client.mget(data.many),
        "LPUSH": lambda: client.lpush(data.pushed, *PAIR),
        "LRANGE": lambda: client.lrange(data.list, 0, -1),
        "HSET": lambda: client.hset(data.hash, mapping=FIELDS),
        "HGETALL": lambda: client.hgetall(data.hash),
        "SADD": lambda: client.sadd(data.set, *MEMBERS),
        "SMEMBERS": lambda: client.smembers(data.set),
        "KEYS": lambda: client.keys(data.pattern),
        "ZRANGE": lambda: client.zrange(data.sorted, 0, -1),
        "MULTI/EXEC": transaction,
    }


def prepare(client: Any, data: Dataset) -> None:
    """Writes what the reads find."""
    client.delete(*data.keys)
    client.rpush(data.list, *ITEMS)
    client.hset(data.hash, mapping=FIELDS)
    client.sadd(data.set, *MEMBERS)
    client.zadd(data.sorted, SCORES)
    client.mset(dict(zip(data.many, TEN, strict=True)))
    client.mset(dict(zip(data.users, TEN, strict=True)))


def trim(client: Any, data: Dataset) -> None:
    """What LPUSH piled up goes before each round."""
    client.delete(data.pushed)
