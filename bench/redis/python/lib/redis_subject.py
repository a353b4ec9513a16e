"""What the Python subjects share: the operations of lib/workloads.mjs."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

from subject import NotOffered, Run, Subject, serve

HOUR = 3600
SMALL = {"id": 123, "name": "John Doe", "email": "john@example.com", "created": 1763757115000}
LARGE = {
    "id": 123,
    "name": "John Doe",
    "email": "john@example.com",
    "data": [{"foo": "bar", "baz": "qux"} for _ in range(100)],
}
VALUES = {"small": SMALL, "large": LARGE}
# Operations between two looks at the time.
STRIDE = 10


def encode(value: Any) -> bytes:
    """What a program writes that has no serializer."""
    return json.dumps(value, separators=(",", ":")).encode()


def decode(text: bytes | None) -> Any:
    return None if text is None else json.loads(text)


class RedisSubject(Subject):
    """A client, or a cache over one. Its methods take keys without the prefix of its own."""

    def __init__(
        self, redis_port: int, directory: str, kind: str, value: str = "small", **_: Any
    ) -> None:
        if not redis_port:
            raise NotOffered("there is no Redis here")
        self.kind, self.value = kind, VALUES[value]
        self.small = value == "small"
        self.open(redis_port, directory)

    @abstractmethod
    def open(self, port: int, directory: str) -> None: ...
    @abstractmethod
    def set(self, key: str, value: Any) -> None: ...
    @abstractmethod
    def get(self, key: str) -> Any: ...
    @abstractmethod
    def set_for(self, key: str, value: Any, seconds: int) -> None: ...
    @abstractmethod
    def ttl(self, key: str) -> float: ...
    @abstractmethod
    def has(self, key: str) -> bool: ...
    @abstractmethod
    def delete(self, key: str) -> None: ...
    @abstractmethod
    def keys(self, start: str) -> list[str]: ...
    @abstractmethod
    def mset(self, items: Mapping[str, Any]) -> None: ...
    @abstractmethod
    def mget(self, keys: list[str]) -> dict[str, Any]: ...
    @abstractmethod
    def mdelete(self, keys: list[str]) -> None: ...

    def check(self) -> None:
        for value in VALUES.values():
            self.set("check", value)
            assert self.get("check") == value, "get"
        assert self.has("check"), "a key that was set is not there"
        self.delete("check")
        assert self.get("check") is None and not self.has("check"), "a deleted key is there"
        self.set_for("check", SMALL, HOUR)
        assert HOUR - 60 < self.ttl("check") <= HOUR, "ttl"
        self.delete("check")
        items = self.items("checked")
        self.mset(items)
        assert self.mget([*items]) == items, "mget"
        assert sorted(self.keys("checked")) == sorted(items), "keys"
        self.mdelete([*items])
        assert self.keys("checked") == [], "keys that were deleted are there"

    def items(self, name: str) -> dict[str, Any]:
        return {f"{name}-{number}": SMALL | {"id": number} for number in range(100)}

    def operations(self) -> Mapping[str, tuple[str, Run]]:
        loops = self.batch() if self.kind == "batch" else self.one()
        return {
            name: ("", self.timed(operation, STRIDE if self.kind == "one" else 1))
            for name, operation in loops.items()
        }

    def one(self) -> dict[str, Callable[[], object]]:
        value = self.value
        self.set("key", value)
        some: dict[str, Callable[[], object]] = {
            "SET": lambda: self.set("key", value),
            "GET": lambda: self.get("key"),
        }
        if not self.small:
            return some
        self.set_for("timed", value, HOUR)
        return some | {
            "EXISTS": lambda: self.has("key"),
            # Sets the key before, as on the page.
            "DELETE": lambda: (self.set("gone", value), self.delete("gone")),
            "SET with TTL": lambda: self.set_for("timed", value, HOUR),
            "TTL": lambda: self.ttl("timed"),
        }

    def batch(self) -> dict[str, Callable[[], object]]:
        items, gone = self.items("key"), self.items("gone")
        names, gone_names = [*items], [*gone]
        self.mset(items)
        return {
            "SET": lambda: self.mset(items),
            "GET": lambda: self.mget(names),
            # Sets the keys before, as on the page.
            "DELETE": lambda: (self.mset(gone), self.mdelete(gone_names)),
            "KEYS": lambda: self.keys("key"),
        }

    def timed(self, operation: Callable[[], object], stride: int) -> Run:
        def run(seconds: float) -> float:
            """Nanoseconds an operation."""
            operation()
            turns = 0
            begin = perf_counter()
            while (taken := perf_counter() - begin) < seconds:
                for _ in range(stride):
                    operation()
                turns += stride
            return taken / turns * 1e9

        return run


def measure(kind: Callable[..., Subject]) -> None:
    serve(kind)
