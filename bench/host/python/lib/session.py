"""What every Python subject of the benchmark shares: it answers the controller's lines of JSON
(bench/host/README.md) on behalf of a `Subject`."""

from __future__ import annotations

import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Names of the operations, the same in every language.
PUT = "put"
PUT_100 = "put, batches of 100"
PUT_ALL = "put, one transaction"
GET = "get"
GET_100 = "get, batches of 100"
GET_ALL = "get, one transaction"
GET_WITHOUT_MEMORY = "get without memory tier"
GET_ALL_IN_MEMORY = "get with all in memory"
GET_TENTH_IN_MEMORY = "get with a tenth in memory"

# What a write survives once it has returned.
NONE = "none"
SURVIVES_KILL = "survives kill -9"

# Keys whose values are looked at after the fill.
SAMPLE = 100

Writes = Sequence[tuple[str, str]]
Reads = Sequence[str]
# Takes writes and returns None, or takes reads and returns how many found nothing.
Run = Callable[[Any], int | None]


@dataclass(frozen=True)
class Place:
    """Where a subject keeps its store."""

    directory: Path
    limit: int
    # How many there are.
    keys: int
    redis_port: int


class Subject(ABC):
    """A store under measurement, opened by its constructor. Ours begin with `polycache`."""

    name: str
    # True for a store that keeps within its byte limit by recycling: it is filled beyond the limit
    # before anything is timed.
    bounded = False
    durability = SURVIVES_KILL
    # Names and versions of what is measured; the commit names ours.
    versions: tuple[tuple[str, str], ...] = ()

    @abstractmethod
    def __init__(self, place: Place) -> None: ...

    @abstractmethod
    def operations(self) -> dict[str, Run]:
        """What is measured."""

    @abstractmethod
    def fill(self, writes: Writes) -> None:
        """Writes everything, in the fastest way there is."""

    @abstractmethod
    def value(self, key: str) -> str | None:
        """The key's value, to check what the operations read and wrote."""

    def turns(self) -> float:
        """How often the space of a bounded store has been used over."""
        return 0.0

    def close(self) -> None:
        """Gives everything back."""
        return


class Session:
    def __init__(self, subject: Subject, data: Path) -> None:
        self.subject = subject
        self.operations = subject.operations()
        self.writes = _lines(data / "writes.txt")
        self.reads = _lines(data / "reads.txt")
        self.values = _lines(data / "values.txt")
        self.next_write = 0
        self.next_read = 0

    def describe(self) -> dict[str, Any]:
        subject = self.subject
        return {
            "subject": subject.name,
            "bounded": subject.bounded,
            "versions": subject.versions,
            "operations": [
                {"name": name, "durability": subject.durability} for name in self.operations
            ],
        }

    def fill(self, passes: int) -> dict[str, Any]:
        for _ in range(passes):
            self.subject.fill(self._next_writes(len(self.writes)))
        for key in self._next_reads(SAMPLE):
            if self.subject.value(key) not in self.values:
                raise ValueError("a key that was written does not have its value")
        return {"turns": self.subject.turns()}

    def run(self, operation: str, count: int) -> dict[str, Any]:
        run = self.operations[operation]
        batch: Any = (
            self._next_writes(count) if operation.startswith(PUT) else self._next_reads(count)
        )
        start = time.perf_counter()
        misses = run(batch)
        return {"seconds": time.perf_counter() - start, "misses": misses or 0}

    def _next_writes(self, count: int) -> Writes:
        first, self.next_write = self.next_write, self.next_write + count
        keys, values = self.writes, self.values
        return [(keys[n % len(keys)], values[n % len(values)]) for n in range(first, first + count)]

    def _next_reads(self, count: int) -> Reads:
        first, self.next_read = self.next_read, self.next_read + count
        return [self.reads[n % len(self.reads)] for n in range(first, first + count)]


def serve(kind: type[Subject]) -> None:
    """The main function of a subject's file."""
    session: Session | None = None
    for line in sys.stdin:
        request = json.loads(line)
        command = request.pop("command")
        reply: dict[str, Any]
        try:
            if command == "open":
                data = Path(request.pop("data"))
                directory = Path(request.pop("directory"))
                session = Session(kind(Place(directory, **request)), data)
                reply = session.describe()
            elif command == "close":
                if session:
                    session.subject.close()
                reply = {}
            else:
                reply = getattr(session, command)(**request)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
        if command == "close":
            break


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()
