"""What is asked of the workers when the main job is done: every answer is a check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .worker import Worker


@dataclass(frozen=True)
class Pair:
    writer: str
    reader: str
    equal: int
    """Values that the reader found equal to its own."""
    total: int
    different: list[str]
    """What was wrong with the others."""

    @property
    def good(self) -> bool:
        return self.total > 0 and self.equal == self.total


def matrix(workers: list[Worker]) -> list[Pair]:
    """Each worker writes a value of every type, in the types of its language; then each reads what
    each has written, and compares it with what it would have written itself."""
    written = {worker.name: worker.call("write")["written"] for worker in workers}
    return [pair(writer, reader, written[writer.name]) for writer in workers for reader in workers]


def pair(writer: Worker, reader: Worker, written: list[str]) -> Pair:
    answer = reader.call(f"read {writer.name}")
    equal, different = set(answer["equal"]), list(answer["different"])
    # A reader that knows fewer types than were written would otherwise pass.
    judged = equal | _names(different)
    different += [f"{name} was not read" for name in written if name not in judged]
    return Pair(writer.name, reader.name, len(equal & set(written)), len(written), different)


def _names(different: list[str]) -> set[str]:
    """`timestamp: ...` is about the value `timestamp`."""
    return {line.partition(":")[0] for line in different}


@dataclass(frozen=True)
class Change:
    writer: str
    reader: str
    seen: str | None
    wanted: str

    @property
    def good(self) -> bool:
        return self.seen == self.wanted


def fresh(workers: list[Worker]) -> Iterator[Change]:
    """Each worker changes a value that the others have just read; their next read must see it."""
    workers[0].call("set nobody")
    for writer in workers:
        readers = [worker for worker in workers if worker is not writer]
        for reader in readers:
            reader.call("get")
        writer.call(f"set {writer.name}")
        for reader in readers:
            yield Change(writer.name, reader.name, reader.call("get")["value"], writer.name)


@dataclass(frozen=True)
class Measure:
    worker: str
    hit_ns: float
    load_ns: float
    same: int
    different: list[str]

    @property
    def good(self) -> bool:
        return self.same > 0 and not self.different


def measure(workers: list[Worker]) -> Iterator[Measure]:
    """One worker after the other, so that no other disturbs the clock: what a hit and a load cost,
    and whether its own loader would have made of a record what the cache holds."""
    for worker in workers:
        answer = worker.call("measure")
        yield Measure(
            worker.name,
            answer["hit_ns"],
            answer["load_ns"],
            answer["same"],
            answer["different"],
        )
