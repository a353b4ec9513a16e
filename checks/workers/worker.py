"""The Python worker of `make check-coherence`, `make torture` and `make check-remote`; see
../README.md."""

from __future__ import annotations

import functools
import os
import random
import struct
import sys
import time
from time import CLOCK_MONOTONIC, clock_gettime_ns
from typing import Any

from polycache import MISSING, Cache, MalformedEntry, PolycacheError, RemoteUnavailable
from reached import reached

READ, SET, SET_DONE, DELETE, DELETE_DONE, LOAD, LOAD_DONE, FOREIGN, FINISHED = range(1, 10)

CLEAR, CLEAR_DONE = 11, 12
MALFORMED = 13

# The namespaces that the keys are spread over, in the order of src/namespaces.rs.
NAMESPACES: list[list[str]] = [[], ["a"], ["a", "b"], ["c"]]

# begin, end, counter and worker of the value, operation, key.
RECORD = struct.Struct("<QQIIBB6x")
BUFFERED = 128 * RECORD.size

# Of 100 operations: where sets begin after gets, then deletes, then loads.
OF_A_HOST = (0.7, 0.9, 0.95)
# A write is a round trip, and makes a read of each host one.
OF_A_SERVER = (0.85, 0.95, 0.97)

# Over a server, so many keys are in the middle of things. As many others get this part of
# operations, nine of ten of them reads, and all together this part.
HOT = 16
WARM = 0.12
COLD = 0.03
# And so many are written by both hosts.
SHARED = 8

# Seconds after a write that the server did not answer.
BREATH = 0.005


def now() -> int:
    return clock_gettime_ns(CLOCK_MONOTONIC)


class Log:
    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.reads = bytearray()

    def buffered(self, op: int, key: int, counter: int, worker: int, begin: int, end: int) -> None:
        self.reads += RECORD.pack(begin, end, counter, worker, op, key)
        if len(self.reads) >= BUFFERED:
            self.flush()

    def now(self, op: int, key: int, counter: int, worker: int, begin: int, end: int) -> None:
        os.write(self.file, RECORD.pack(begin, end, counter, worker, op, key))

    def flush(self) -> None:
        os.write(self.file, self.reads)
        self.reads.clear()


def value(key: str, worker: int, counter: int) -> str:
    name = f"{worker}.{counter}"
    return f"{key}:{name}:{name * (counter * 389 % 2**32 % 1000)}"


def parse(key: str, found: object) -> tuple[int, int] | None:
    """Counter and worker of a text that is exactly one value of this key; None for anything
    else."""
    try:
        assert isinstance(found, str)
        worker, counter = map(int, found.split(":", 2)[1].split("."))
    except (AssertionError, IndexError, ValueError):
        return None
    return (counter, worker) if found == value(key, worker, counter) else None


class Worker:
    def __init__(
        self,
        cache: Cache,
        log: Log,
        number: int,
        keys: int,
        seed: int,
        operations_a_clear: int,
        remote: bool,
    ) -> None:
        self.namespaces = [functools.reduce(Cache.namespace, parts, cache) for parts in NAMESPACES]
        self.remote = remote
        self.log = log
        self.number = number
        self.counter = 0
        self.names = [f"hot-{key}" for key in range(keys)]
        self.random = random.Random(seed)
        self.operations_a_clear = operations_a_clear

    def work(self, reads: int, go_on: str = "", pace: int = 0) -> None:
        """Over a server a read counts that has found a value, and work goes on while the file
        `go_on` is there, with `pace` microseconds of sleep after each operation."""
        sets, deletes, loads = OF_A_SERVER if self.remote else OF_A_HOST
        operations = 0
        goes_on = True
        while reads > 0 or goes_on:
            if operations % 256 == 0:
                goes_on = os.path.exists(go_on)
            operations += 1
            if pace:
                time.sleep(pace / 1e6)
            if self.random.random() * self.operations_a_clear < 1:
                self.clear(int(self.random.random() * len(self.namespaces)))
            key = self.key()
            warm = self.remote and HOT <= key < 2 * HOT and self.random.random() < 0.9
            dice = 0 if warm else self.random.random()
            if dice < sets or self.only_reads(key):
                found = self.get(key)
            elif dice < deletes:
                self.set(key)
                continue
            elif dice < loads:
                self.delete(key)
                continue
            else:
                found = self.get_or_set(key)
            reads -= found or not self.remote
        self.log.flush()
        stats = self.namespaces[0].remote_stats()
        near, remote = (stats.near_hits, stats.remote_hits) if stats else (0, 0)
        near += self.namespaces[0].stats().memory_hits
        self.log.now(FINISHED, 0, remote, 0, now(), near)

    def key(self) -> int:
        part = self.random.random()
        if not self.remote or part < COLD:
            return int(self.random.random() * len(self.names))
        return int(self.random.random() * HOT) + (HOT if part < COLD + WARM else 0)

    def get(self, key: int) -> bool:
        """Whether a value was found."""
        begin = now()
        try:
            found = self.cache(key).get(self.names[key], MISSING)
        except PolycacheError as error:
            return self.failed(key, error, begin, now())
        return self.read(key, found, begin, now())

    def read(self, key: int, found: object, begin: int, end: int) -> bool:
        if found is MISSING:
            self.log.buffered(READ, key, 0, 0, begin, end)
            return False
        serial = parse(self.names[key], found)
        if serial is None:
            self.foreign(key, found, begin, end)
            return False
        self.log.buffered(READ, key, *serial, begin, end)
        return True

    def set(self, key: int) -> None:
        made = self.make(key)
        begin = now()
        self.log.now(SET, key, self.counter, self.number, begin, 0)
        try:
            self.cache(key).set(self.names[key], made)
        except RemoteUnavailable:
            return self.unacknowledged()
        self.log.now(SET_DONE, key, self.counter, self.number, begin, now())

    def delete(self, key: int) -> None:
        begin = now()
        self.log.now(DELETE, key, 0, 0, begin, 0)
        try:
            self.cache(key).delete(self.names[key])
        except RemoteUnavailable:
            return self.unacknowledged()
        self.log.now(DELETE_DONE, key, 0, 0, begin, now())

    def clear(self, namespace: int) -> None:
        begin = now()
        self.log.now(CLEAR, namespace, 0, 0, begin, 0)
        try:
            self.namespaces[namespace].clear()
        except RemoteUnavailable:
            return self.unacknowledged()
        self.log.now(CLEAR_DONE, namespace, 0, 0, begin, now())

    def only_reads(self, key: int) -> bool:
        """Most keys are written by one host alone: what a host writes itself is never old there."""
        return self.remote and key >= SHARED and key // 4 % 2 != self.number % 2

    def unacknowledged(self) -> None:
        """A write that failed: it may happen later, or not."""
        time.sleep(BREATH)

    def cache(self, key: int) -> Cache:
        return self.namespaces[key % len(self.namespaces)]

    def get_or_set(self, key: int) -> bool:
        """The loader takes up to 30 microseconds, so that others can set and delete meanwhile.
        Whether a value was there."""
        made = self.make(key)
        pause = int(self.random.random() * 30_000)
        loaded = 0

        def load() -> str:
            nonlocal loaded
            loaded = now()
            self.log.now(LOAD, key, self.counter, self.number, loaded, 0)
            self.log.buffered(READ, key, 0, 0, begin, loaded)
            while now() < loaded + pause:
                pass
            return made

        begin = now()
        try:
            found = self.cache(key).get_or_set(self.names[key], load)
        except PolycacheError as error:
            if loaded:
                raise
            return self.failed(key, error, begin, now())
        end = now()
        if loaded:
            self.log.now(LOAD_DONE, key, self.counter, self.number, loaded, end)
            return False
        return self.read(key, found, begin, end)

    def make(self, key: int) -> str:
        self.counter += 1
        return value(self.names[key], self.number, self.counter)

    def failed(self, key: int, error: PolycacheError, begin: int, end: int) -> bool:
        if self.remote and isinstance(error, MalformedEntry):
            self.log.buffered(MALFORMED, key, 0, 0, begin, end)
        else:
            self.foreign(key, error, begin, end)
        return False

    def foreign(self, key: int, found: object, begin: int, end: int) -> None:
        print(f"{self.names[key]} gave, by a read begun at {begin}: {found!r:.400}", flush=True)
        self.log.now(FOREIGN, key, 0, 0, begin, end)


def main(directory: str, log: str, *words: str) -> None:
    worker, seed, reads, keys, lease_timeout, operations_a_clear = map(int, words[:6])
    options: dict[str, Any] = {"lease_timeout": lease_timeout / 1000}
    go_on, pace = "", "0"
    if words[6:]:
        remote, timeout, staleness, go_on, pace = words[6:]
        options["remote"] = reached(remote)
        options |= {"timeout": int(timeout) / 1000, "max_staleness": int(staleness) / 1000}
    cache = Cache(directory, **options)
    has_remote = "remote" in options
    work = Worker(cache, Log(log), worker, keys, seed, operations_a_clear, has_remote).work
    work(reads, go_on, int(pace))


main(*sys.argv[1:])
