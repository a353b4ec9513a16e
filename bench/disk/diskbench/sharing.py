"""Several processes that read and write one store at once."""

from __future__ import annotations

import random
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from subject import Run, Subject

from .check import Wrong, check, empty
from .items import how_many, items
from .store import Place, Store

PER_SECOND = "operations per second"
# Operations between two looks at the clock.
STRIDE = 10
# The store is not filled in every round, so a slow one gets so many times the keys of `most`.
FILLED_ONCE = 4
# Share of the reads that may find nothing: a store with a byte limit drops some old entries while
# it is overwritten. With more the row is refused.
MISSES = 0.01
# Seconds until all processes have been told to start, and for which one may say nothing.
START, PATIENCE = 0.02, 60
GET, BOTH = "GET", "GET and SET in turn"


class NotShared(Exception):
    """Says why several processes cannot be measured."""


class Sharing(Subject):
    """This process opens nothing: it forks the others, tells them when to start and adds up their
    results."""

    def __init__(
        self,
        kind: type[Store],
        directory: str,
        keys: int,
        size: int,
        processes: int,
        share: float = 1,
        **_: object,
    ) -> None:
        if kind.alone:
            raise NotShared(kind.alone)
        self.kind = kind
        self.name, self.versions = kind.name, dict(kind.versions)
        count = how_many(keys, kind.most and FILLED_ONCE * kind.most, share)
        self.place = Place(Path(directory) / "store", count, size, churn=True)
        self.notes = (kind.durability, kind.compression, *kind.notes)
        if count < keys:
            self.notes += (f"{count:,} instead of {keys:,} keys",)
        self.processes = processes
        self.members: list[Member] = []
        empty(self.place)

    def operations(self) -> dict[str, tuple[str, Run]]:
        names = [BOTH] if self.kind.writes_only else [GET, BOTH]
        return {name: (PER_SECOND, partial(self._run, name)) for name in names}

    def check(self) -> None:
        """What one writes the others read; then all keys are set for the rounds to come."""
        check(self.kind, self.place)
        self.members = [Member(self.kind, self.place, n) for n in range(self.processes)]
        first = self.members[0]
        first.ask("fill")
        key, value = items(1, self.place.size)[0]
        for writer in self.members:
            written = value[::-1] if writer is first else value
            writer.ask("set", key, written)
            for reader in self.members:
                read = reader.ask("get", key)
                if read != written:
                    raise Wrong("a process read something else than another had written before")

    def close(self) -> None:
        for member in self.members:
            member.close()

    def _run(self, operation: str, seconds: float) -> float:
        """Operations per second of all together."""
        start = monotonic() + START
        for member in self.members:
            member.send("run", operation, start, seconds)
        # All answers are taken before one of them may raise, so that none is left for later.
        replies = [member.reply() for member in self.members]
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return float(sum(replies))


class Member:
    """One of the processes, seen from the one that counts."""

    def __init__(self, kind: type[Store], place: Place, number: int) -> None:
        # Nothing is open here and no thread runs, so a fork copies nothing that it should not.
        context = get_context("fork")
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, kind, place, number)
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.receive()

    def send(self, *request: object) -> None:
        self.pipe.send(request)

    def reply(self) -> Any:
        """Or the error."""
        if not self.pipe.poll(PATIENCE):
            raise TimeoutError(f"a process said nothing for {PATIENCE} s")
        return self.pipe.recv()

    def receive(self) -> Any:
        reply = self.reply()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def ask(self, *request: object) -> Any:
        self.send(*request)
        return self.receive()

    def close(self) -> None:
        self.send("close")
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _serve(pipe: Connection, kind: type[Store], place: Place, number: int) -> None:
    all_items = items(place.keys, place.size)
    # Each process goes through the keys in another order.
    random.Random(number).shuffle(all_items)
    store: Store | None = None
    request: tuple[Any, ...] = ("open",)
    while request[0] != "close":
        try:
            pipe.send(_answer(store := store or kind(place), all_items, *request))
        except Exception as error:
            pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
        request = pipe.recv()
    if store:
        store.close()


def _answer(store: Store, all_items: list[tuple[str, str]], command: str, *rest: Any) -> Any:
    if command == "fill":
        store.set_all(all_items)
    elif command == "set":
        store.set(*rest)
    elif command == "get":
        return store.get(*rest)
    elif command == "run":
        return _run(store, all_items, *rest)
    return None


def _run(
    store: Store, all_items: list[tuple[str, str]], operation: str, start: float, seconds: float
) -> float:
    get, set = store.get, store.set
    done, misses, first = 0, 0, random.randrange(len(all_items))
    both = operation == BOTH
    sleep(max(0, start - monotonic()))
    begun = monotonic()
    end = begun + seconds
    while (now := monotonic()) < end:
        for number in range(first + done, first + done + STRIDE):
            key, value = all_items[number % len(all_items)]
            if both and number & 1:
                set(key, value)
            elif get(key) is None:
                misses += 1
        done += STRIDE
    if misses > MISSES * done / (2 if both else 1):
        raise LookupError(f"{misses} of {done} operations found nothing")
    return done / (now - begun)
