"""What every subject shares. Its file says what it is called and how its client is made."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from typing import Any

import redis
from canned_connection import CannedConnection
from commands import operations, prepare, trim
from dataset import ITEMS, STRING, TEN, UNORDERED, Dataset

from subject import Run, Subject

UNITS = {"rate": "operations per second", "nanoseconds": "ns per operation"}
# Share of a round's seconds that it warms up in.
WARM_UP = 0.2
# How many operations lie between two looks at the clock, without a socket.
BATCH = 32


class NamespaceSubject(Subject):
    # False where the caller has to name the keys in full.
    prefixes: bool
    versions = {"redis (PyPI)": redis.__version__}  # noqa: RUF012

    @abstractmethod
    def client(self, bare: Any) -> Any:
        """The client to be measured, made of one of redis-py."""

    def __init__(self, redis_port: int, measure: str, operations: list[str], **_: Any) -> None:
        if not redis_port:
            raise RuntimeError("there is no redis-server here")
        # Of the same length for all, so that all put the same number of bytes on the wire.
        self.namespace = f"app{os.getpid():07}"
        self.alone = measure == "nanoseconds"
        self.unit = UNITS[measure]
        self.asked = operations
        self.data = Dataset("" if self.prefixes else f"{self.namespace}:")
        self.bare = redis.Redis(port=redis_port, decode_responses=True)
        self.opened = self._open(redis_port)
        self.made = self.client(self.opened)
        self.replies: dict[str, list[Any]] = {}
        wrote = (
            "writes the prefix" if self.prefixes else "no namespace: the caller writes the prefix"
        )
        self.notes = (wrote, "decodes replies")

    def _open(self, port: int) -> Any:
        if not self.alone:
            return redis.Redis(port=port, decode_responses=True)
        pool = redis.ConnectionPool(
            connection_class=CannedConnection, port=port, decode_responses=True
        )
        return redis.Redis.from_pool(pool)

    def operations(self) -> dict[str, tuple[str, Run]]:
        all_of_them = operations(self.made, self.data)
        return {
            name: (self.unit, lambda seconds, name=name: self.round(name, seconds))  # type: ignore[misc]
            for name in self.asked or all_of_them
        }

    def check(self) -> None:
        prepare(self.made, self.data)
        for name in operations(self.made, self.data):
            trim(self.made, self.data)
            CannedConnection.recorded.clear()
            self._compare(name)
            self.replies[name] = [*CannedConnection.recorded]
        self._look()
        if self.alone:
            for name, replies in self.replies.items():
                CannedConnection.play(replies)
                self._compare(name)
                self._compare(name)
            CannedConnection.play([])

    def round(self, name: str, seconds: float) -> float:
        operation = operations(self.made, self.data)[name]
        if self.alone:
            CannedConnection.play(self.replies[name])
        elif name == "LPUSH":
            trim(self.made, self.data)
        self._timed(operation, seconds * WARM_UP)
        nanoseconds = self._timed(operation, seconds * (1 - WARM_UP))
        CannedConnection.recorded.clear()
        return nanoseconds if self.alone else 1e9 / nanoseconds

    def _timed(self, operation: Any, seconds: float) -> float:
        """Nanoseconds of one."""
        batch = range(BATCH if self.alone else 1)
        clock = time.perf_counter_ns
        start = clock()
        end, done = start + 1e9 * seconds, 0
        while True:
            for _ in batch:
                operation()
            done += len(batch)
            now = clock()
            if now >= end:
                return (now - start) / done

    def _compare(self, name: str) -> None:
        found, expected = operations(self.made, self.data)[name](), self.data.expected[name]
        if name in UNORDERED:
            found = sorted(found)
        same(name, found, expected)

    def _look(self) -> None:
        """A client without any namespace sees every key under the prefix, with its value, and none
        without it."""
        self.made.lpush(self.data.pushed, "item")
        full, bare = Dataset(f"{self.namespace}:"), self.bare
        same("keys on the server", sorted(bare.keys(f"{self.namespace}*")), sorted(full.keys))
        same("keys without prefix", bare.exists(*Dataset("").keys), 0)
        same("a value on the server", bare.get(full.key), STRING)
        same("values on the server", bare.mget(full.users), TEN)
        same("a list on the server", bare.lrange(full.list, 0, -1), ITEMS)

    def close(self) -> None:
        self.opened.close()
        self.bare.close()


def same(what: str, found: Any, expected: Any) -> None:
    if isinstance(found, set):
        found = sorted(found)
    if found != expected:
        raise AssertionError(f"{what}: {found!r} is not {expected!r}")
