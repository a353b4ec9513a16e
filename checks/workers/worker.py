"""The Python worker of `make check-coherence` and `make torture`; see ../README.md."""

from __future__ import annotations

import functools
import os
import random
import struct
import sys
from time import CLOCK_MONOTONIC, clock_gettime_ns

from polycache import MISSING, Cache, PolycacheError

READ, SET, SET_DONE, DELETE, DELETE_DONE, LOAD, LOAD_DONE, FOREIGN, FINISHED = range(1, 10)

CLEAR, CLEAR_DONE = 11, 12

# The namespaces that the keys are spread over, in the order of src/namespaces.rs.
NAMESPACES: list[list[str]] = [[], ["a"], ["a", "b"], ["c"]]

# begin, end, counter and worker of the value, operation, key.
RECORD = struct.Struct("<QQIIBB6x")
BUFFERED = 128 * RECORD.size


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
        self, cache: Cache, log: Log, number: int, keys: int, seed: int, operations_a_clear: int
    ) -> None:
        self.namespaces = [functools.reduce(Cache.namespace, parts, cache) for parts in NAMESPACES]
        self.log = log
        self.number = number
        self.counter = 0
        self.names = [f"hot-{key}" for key in range(keys)]
        self.random = random.Random(seed)
        self.operations_a_clear = operations_a_clear

    def work(self, reads: int) -> None:
        while reads > 0:
            if self.random.random() * self.operations_a_clear < 1:
                self.clear(int(self.random.random() * len(self.namespaces)))
            key = int(self.random.random() * len(self.names))
            dice = self.random.random()
            if dice < 0.7:
                self.get(key)
                reads -= 1
            elif dice < 0.9:
                self.set(key)
            elif dice < 0.95:
                self.delete(key)
            else:
                self.get_or_set(key)
                reads -= 1
        self.log.flush()
        self.log.now(FINISHED, 0, 0, 0, now(), 0)

    def get(self, key: int) -> None:
        begin = now()
        try:
            found = self.cache(key).get(self.names[key], MISSING)
        except PolycacheError as error:
            self.foreign(key, error, begin, now())
            return
        self.read(key, found, begin, now())

    def read(self, key: int, found: object, begin: int, end: int) -> None:
        if found is MISSING:
            self.log.buffered(READ, key, 0, 0, begin, end)
            return
        serial = parse(self.names[key], found)
        if serial is None:
            self.foreign(key, found, begin, end)
        else:
            self.log.buffered(READ, key, *serial, begin, end)

    def set(self, key: int) -> None:
        made = self.make(key)
        begin = now()
        self.log.now(SET, key, self.counter, self.number, begin, 0)
        self.cache(key).set(self.names[key], made)
        self.log.now(SET_DONE, key, self.counter, self.number, begin, now())

    def delete(self, key: int) -> None:
        begin = now()
        self.log.now(DELETE, key, 0, 0, begin, 0)
        self.cache(key).delete(self.names[key])
        self.log.now(DELETE_DONE, key, 0, 0, begin, now())

    def clear(self, namespace: int) -> None:
        begin = now()
        self.log.now(CLEAR, namespace, 0, 0, begin, 0)
        self.namespaces[namespace].clear()
        self.log.now(CLEAR_DONE, namespace, 0, 0, begin, now())

    def cache(self, key: int) -> Cache:
        return self.namespaces[key % len(self.namespaces)]

    def get_or_set(self, key: int) -> None:
        """The loader takes up to 30 microseconds, so that others can set and delete meanwhile."""
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
            self.foreign(key, error, begin, now())
            return
        end = now()
        if loaded:
            self.log.now(LOAD_DONE, key, self.counter, self.number, loaded, end)
        else:
            self.read(key, found, begin, end)

    def make(self, key: int) -> str:
        self.counter += 1
        return value(self.names[key], self.number, self.counter)

    def foreign(self, key: int, found: object, begin: int, end: int) -> None:
        print(f"{self.names[key]} gave, by a read begun at {begin}: {found!r:.400}", flush=True)
        self.log.now(FOREIGN, key, 0, 0, begin, end)


def main(directory: str, log: str, *numbers: str) -> None:
    worker, seed, reads, keys, lease_timeout, operations_a_clear = map(int, numbers)
    cache = Cache(directory, lease_timeout=lease_timeout / 1000)
    Worker(cache, Log(log), worker, keys, seed, operations_a_clear).work(reads)


main(*sys.argv[1:])
