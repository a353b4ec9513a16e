"""What every subject writes and reads: the names and sizes of the published page, with a list that
does not grow."""

from __future__ import annotations

from typing import Any

STRING = "value"
PAIR = ("item1", "item2")
ITEMS = [f"item{number:03}" for number in range(100)]
FIELDS = {"field1": "value1", "field2": "value2"}
MEMBERS = ("member1", "member2")
SCORES = {"member1": 1, "member2": 2, "member3": 3}
TEN = [f"value{number}" for number in range(10)]

# Operations that return in no order.
UNORDERED = ("SMEMBERS", "KEYS")


class Dataset:
    """The names of keys. The prefix is empty for a client that writes it itself; a bare client's
    caller names the keys in full."""

    def __init__(self, prefix: str) -> None:
        self.key = f"{prefix}key"
        self.many = [f"{prefix}mkey{number}" for number in range(10)]
        self.pushed = f"{prefix}pushed"
        self.list = f"{prefix}list"
        self.hash = f"{prefix}hash"
        self.set = f"{prefix}set"
        self.users = [f"{prefix}user:{number}" for number in range(10)]
        self.pattern = f"{prefix}user:*"
        self.sorted = f"{prefix}zset"
        self.first = f"{prefix}tx_key1"
        self.second = f"{prefix}tx_key2"

    @property
    def keys(self) -> list[str]:
        """Every key that is there once each operation has run."""
        one = [self.key, self.pushed, self.list, self.hash, self.set, self.sorted]
        return [*one, self.first, self.second, *self.many, *self.users]

    @property
    def expected(self) -> dict[str, Any]:
        """What each operation returns, by the page's names."""
        return {
            "SET": True,
            "GET": STRING,
            "MGET (10 keys)": TEN,
            "LPUSH": 2,
            "LRANGE": ITEMS,
            "HSET": 0,
            "HGETALL": FIELDS,
            "SADD": 0,
            "SMEMBERS": [*MEMBERS],
            "KEYS": self.users,
            "ZRANGE": [*SCORES],
            "MULTI/EXEC": [True, True],
        }
