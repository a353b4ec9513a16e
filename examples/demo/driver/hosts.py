"""Two directories as two hosts, with a Redis in between. Every answer is a check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from .server import Server
from .worker import Worker

# How far a read may be behind: the default of `max_staleness`, in seconds.
BOUND = 1.0
# Seconds for a host to begin to hear of writes, on a busy machine.
PATIENCE = 20.0
# What the workers set and get is called so on the server.
KEY = "polycache:demo:changes::last writer"


@dataclass(frozen=True)
class Heard:
    """How a worker of one host saw what happened elsewhere."""

    writer: str
    reader: str
    milliseconds: float
    """From the acknowledgement of the write to the first read that shows it."""
    seen: str | None
    wanted: str | None
    is_copy: bool = True
    """Whether a later read was answered without a round trip."""

    @property
    def good(self) -> bool:
        return self.seen == self.wanted and self.milliseconds <= 1000 * BOUND and self.is_copy


def settle(workers: Sequence[Worker]) -> bool:
    """Waits until every worker's host hears of writes."""
    return all([_within(PATIENCE, partial(_listens, worker)) for worker in workers])


def changes(hosts: Sequence[Sequence[Worker]]) -> Iterator[Heard]:
    """Each worker changes a value that those of the other host have copies of."""
    for host in hosts:
        others = [worker for other in hosts if other is not host for worker in other]
        for writer in host:
            for reader in others:
                reader.call("get")
            writer.call(f"set {writer.name}")
            written = time.monotonic()
            yield from [_heard(writer.name, reader, writer.name, written) for reader in others]


def behind_our_back(workers: Sequence[Worker], server: Server) -> Iterator[Heard]:
    """Another program deletes what all have copies of."""
    workers[0].call("set something")
    for worker in workers:
        _seen(worker.name, worker, "something", time.monotonic())
    if server.command("DEL", KEY) != ":1":
        raise workers[0].failed("stored nothing on the server")
    deleted = time.monotonic()
    yield from [_seen("redis-cli", worker, None, deleted) for worker in workers]


def _heard(writer: str, reader: Worker, wanted: str, since: float) -> Heard:
    seen = _seen(writer, reader, wanted, since)
    return Heard(writer, reader.name, seen.milliseconds, seen.seen, wanted, is_copied(reader))


def _seen(writer: str, reader: Worker, wanted: str | None, since: float) -> Heard:
    """Reads until it is there; a worker that never sees it has the last value that it read."""
    while True:
        value = reader.call("get")["value"]
        late = time.monotonic() - since
        if value == wanted or late > PATIENCE:
            return Heard(writer, reader.name, 1000 * late, value, wanted)


def is_copied(reader: Worker) -> bool:
    """Whether the host makes a copy of what it has read, and answers from that, or from memory."""

    def answers_from_copy() -> bool:
        before = reader.call("tiers")
        reader.call("get")
        after = reader.call("tiers")
        here: int = after["hits_here"] - before["hits_here"]
        return here == 1 and after["remote_hits"] == before["remote_hits"]

    return _within(PATIENCE, answers_from_copy)


def _listens(worker: Worker) -> bool:
    worker.call("get")
    listens: bool = worker.call("tiers")["listens"]
    return listens


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.002)
    return True
