"""Four processes of a host read one key, which a plain client changes: what reaches the server.

A run is some changes. After each one every process reads until it has the new value, and then goes
on to read. The figures are commands that read, as the server counts them, for each change, and the
time of a read.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from abc import abstractmethod
from collections.abc import Mapping
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import redis

from subject import NotOffered, Run, Subject

READERS = 4
# Of each process, after each change.
READS = 500
READ = "one hot key, 4 processes"
# What the server counts for a read of ours, and of a client.
COMMANDS = ("get", "getex")


class Reader:
    """One process' cache or client."""

    @abstractmethod
    def get(self) -> Any: ...


class HotKey(Subject):
    """What reads, and what changes the key behind its back."""

    def __init__(self, redis_port: int, directory: str, **_: Any) -> None:
        if not redis_port:
            raise NotOffered("there is no Redis here")
        self.server = redis.Redis(port=redis_port)
        self.directory = tempfile.mkdtemp(dir=directory or None)
        self.number = 0
        self.seconds = 0.0
        self.readers: list[Connection] = []
        self.processes: list[Any] = []
        spawn = multiprocessing.get_context("spawn")
        while len(self.readers) < READERS:
            ours, theirs = spawn.Pipe()
            given = (type(self), theirs, redis_port, self.directory)
            process = spawn.Process(target=_reads, args=given, daemon=True)
            process.start()
            self.readers.append(ours)
            self.processes.append(process)
        self.change()
        for reader in self.readers:
            # It says when it is ready: a copy is served, or each read asks.
            reader.recv()

    @classmethod
    @abstractmethod
    def reader(cls, port: int, directory: str) -> Reader: ...

    @abstractmethod
    def write(self, number: int) -> None:
        """Changes the key behind the back of the readers."""

    def change(self) -> None:
        self.number += 1
        self.write(self.number)

    def asked(self) -> int:
        """How many commands that read the server has had."""
        counted: Mapping[str, Any] = self.server.info("commandstats")
        return sum(counted.get(f"cmdstat_{name}", {}).get("calls", 0) for name in COMMANDS)

    def turn(self) -> None:
        self.change()
        for reader in self.readers:
            reader.send(self.number)
        self.seconds = sum(reader.recv() for reader in self.readers) / READERS / READS

    def operations(self) -> Mapping[str, tuple[str, Run]]:
        def reads(seconds: float) -> float:
            end = perf_counter() + seconds
            before, turns = self.asked(), 0
            while turns == 0 or perf_counter() < end:
                self.turn()
                turns += 1
            return (self.asked() - before) / turns

        def time(seconds: float) -> float:
            end = perf_counter() + seconds
            times: list[float] = []
            while not times or perf_counter() < end:
                self.turn()
                times.append(self.seconds)
            return sum(times) / len(times) * 1e9

        return {READ: ("reads on the server for each change", reads), f"{READ}, GET": ("", time)}

    def check(self) -> None:
        # Each reader waits until it reads what was written last.
        self.turn()

    def close(self) -> None:
        for reader in self.readers:
            reader.send(None)
        for process in self.processes:
            process.join(10)


def _reads(kind: type[HotKey], pipe: Connection, port: int, directory: str) -> None:
    reader = kind.reader(port, directory)
    end = perf_counter() + 5
    while reader.get() is None and perf_counter() < end:
        pass
    pipe.send(None)
    while (number := pipe.recv()) is not None:
        while reader.get() != number:
            pass
        begin = perf_counter()
        for _ in range(READS):
            reader.get()
        pipe.send(perf_counter() - begin)
