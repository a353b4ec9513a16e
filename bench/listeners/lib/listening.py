"""A server that tells hosts of every write, and what that costs it.

A run writes keys of 100 bytes that nobody reads, by a plain client, and asks the server for the
time that its processors worked meanwhile. So what else the machine does hardly counts.
"""

from __future__ import annotations

import contextlib
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any

import redis

from harness import redis_server
from subject import NotOffered, Run, Subject

PREFIX = "polycache"
VALUE = b"x" * 100
# Each is written again and again.
KEYS = 10_000
PIPELINE = 16
# Writes between two looks at the clock.
BATCH = 20
# Seconds for what must come to pass at last.
PATIENCE = 60

SERVER = "µs of the server a SET"
ALONE = "SET"
PIPELINED = f"SET, {PIPELINE} in a pipeline"
PUSHES = "pushes"
MEMORY = "memory of the server"


def wait(what: str, done: Callable[[], bool]) -> None:
    """Raises where it does not come to pass."""
    end = monotonic() + PATIENCE
    while not done():
        if monotonic() > end:
            raise RuntimeError(f"{what}: not within {PATIENCE} s")
        sleep(0.01)


class Listeners(Subject):
    """`hosts` listen to servers of the subject's own."""

    def __init__(self, redis_port: int, directory: str, hosts: int, **_: Any) -> None:
        if not redis_port:
            raise NotOffered("there is no Redis here")
        self.hosts = hosts
        self.directory = Path(tempfile.mkdtemp(dir=directory or None))
        self.stack = contextlib.ExitStack()
        self.servers = self.start()
        self.writers = [redis.Redis(port=port) for port in self.servers]
        self.number = 0
        before = self.memory()
        self.listen()
        # What hosts hold when they only listen: their connections.
        self.listening = (self.memory() - before) / max(hosts, 1)

    def start(self) -> list[int]:
        """The ports of the servers that are written to, in turn."""
        return [self.server()]

    def server(self, *options: str) -> int:
        """Another server, until this subject is closed; its port."""
        folder = self.directory / f"server-{len(list(self.directory.iterdir()))}"
        started = self.stack.enter_context(redis_server.running(folder))
        if options:
            redis.Redis(port=started.port).execute_command(*options)
        return started.port

    @abstractmethod
    def listen(self) -> None:
        """Returns when all hosts are told of writes."""

    @abstractmethod
    def settle(self, told: int) -> None:
        """Returns when each host was told of all that was written; that makes `told` keys for all
        of them, since the last call."""

    def memory(self) -> int:
        return sum(int(writer.info("memory")["used_memory"]) for writer in self.writers)

    def worked(self) -> float:
        """Seconds that the servers' processors worked for them."""
        return sum(
            float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])
            for cpu in (writer.info("cpu") for writer in self.writers)
        )

    def names(self, many: int) -> Iterator[str]:
        for _ in range(many):
            self.number += 1
            yield f"{PREFIX}:key:{self.number % KEYS}"

    def write(self, pipelined: bool) -> int:
        """Some keys; how many."""
        if not pipelined:
            for name in self.names(BATCH):
                self.writers[self.number % len(self.writers)].set(name, VALUE)
            return BATCH
        for writer in self.writers:
            pipeline = writer.pipeline(transaction=False)
            for name in self.names(PIPELINE):
                pipeline.set(name, VALUE)
            pipeline.execute()
        return PIPELINE * len(self.writers)

    def writes(self, seconds: float, pipelined: bool) -> tuple[int, float]:
        """How many in that time, and how long the servers worked for them, pushes included."""
        before, begin, written = self.worked(), perf_counter(), 0
        while perf_counter() < begin + seconds:
            written += self.write(pipelined)
        # Pushes leave at the end of the round in which a key was written.
        return written, self.worked() - before

    def operations(self) -> Mapping[str, tuple[str, Run]]:
        def alone(seconds: float) -> float:
            written, worked = self.writes(seconds, pipelined=False)
            return worked / written * 1e6

        def pipelined(seconds: float) -> float:
            written, worked = self.writes(seconds, pipelined=True)
            return worked / written * 1e6

        def pushes(seconds: float) -> float:
            self.settle(0)
            begin = perf_counter()
            written, _ = self.writes(seconds, pipelined=True)
            self.settle(written * self.hosts)
            return written * self.hosts / (perf_counter() - begin)

        found: dict[str, tuple[str, Run]] = {
            ALONE: (SERVER, alone),
            PIPELINED: (SERVER, pipelined),
        }
        if self.hosts:
            found[PUSHES] = ("operations per second", pushes)
            found[MEMORY] = ("bytes a host", lambda _: self.listening)
        return found

    def check(self) -> None:
        if self.hosts:
            self.settle(self.write(pipelined=True) * self.hosts)

    def close(self) -> None:
        for writer in self.writers:
            writer.close()
        self.stack.close()
