"""One state of the server, and what every subject does then.

Each operation of each subject has a process of its own, so that none finds what another one has
learnt (an open circuit breaker, a connection that is known to be dead), and so that those who hang
do so at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.row import MILLISECONDS, Row
from harness.subject import Subject

from .states import State
from .subject import Process, SubjectFailed

# Seconds between the trouble and the first call: beyond what a cache may be behind by default.
SETTLE = 2.0
# Seconds that a call has for itself, before the next subject is asked.
ALONE = 0.4
STORED = "stored before"


@dataclass(frozen=True)
class Operation:
    name: str
    kind: str
    key: str
    times: int = 1


GET = Operation("get", "get", STORED)
KNOWN = Operation("get of what was read before", "get", STORED)
SET = Operation("set", "set", "set now")
LOAD = Operation("get or load", "load", "loaded now")
TENTH = Operation("tenth get", "get", STORED, 10)
OPERATIONS = (SET, GET, KNOWN, LOAD, TENTH)

Begin = Callable[[Subject, Path], Process]


@dataclass
class Asked:
    subject: Subject
    operation: Operation
    process: Process | None = None
    answer: dict[str, Any] | None = None
    failure: str = ""

    def row(self, state: str, bound: float) -> Row:
        row = Row(state, self.subject.name, self.operation.name, MILLISECONDS)
        if self.failure:
            row.failure = self.failure
        elif self.answer is None:
            row.samples = [1000 * bound]
            row.notes = [f"no answer within {bound:.0f} s"]
        else:
            row.samples = [self.answer["ms"]]
            row.notes = [self.answer["outcome"]]
        return row


def run(
    state: State, subjects: Sequence[Subject], begin: Begin, folder: Path, bound: float
) -> tuple[list[Row], dict[str, str]]:
    """The rows of a state, and the subjects' versions."""
    scene = state.set_up(folder / "server")
    all_asked: list[Asked] = []
    versions: dict[str, str] = {}
    try:
        for subject in subjects:
            for operation in OPERATIONS:
                asked = Asked(subject, operation)
                with suppressing(asked):
                    place = folder / f"{subject.name}-{OPERATIONS.index(operation)}"
                    place.mkdir()
                    asked.process = begin(subject, place)
                    asked.process.send(
                        command="open", url=scene.url, directory=str(place / "cache")
                    )
                all_asked.append(asked)
        for asked in all_asked:
            with suppressing(asked):
                opened = asked.process.answer(120.0) if asked.process else None
                if opened is None:
                    raise SubjectFailed("it does not open")
                versions |= opened["versions"]
                if asked.operation is LOAD and not opened["loads"]:
                    asked.failure = "it has no such operation"
        if scene.works_before:
            warm(all_asked)
        scene.trouble()
        time.sleep(SETTLE if scene.works_before else 0)
        ask(all_asked, bound)
    finally:
        for asked in all_asked:
            if asked.process:
                asked.process.end()
        scene.end()
    return [asked.row(state.name, bound) for asked in all_asked], versions


class suppressing(suppress):
    """Notes why a subject cannot be asked."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(SubjectFailed, OSError)
        self._asked = asked

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        done = super().__exit__(kind, error, trace)
        if done and not self._asked.failure:
            self._asked.failure = str(error)
        return done


def usable(all_asked: Sequence[Asked], *operations: Operation) -> Iterator[tuple[Asked, Process]]:
    for asked in all_asked:
        if asked.process and not asked.failure and asked.operation in operations:
            yield asked, asked.process


def warm(all_asked: Sequence[Asked]) -> None:
    """All have used the server when it gets into trouble."""
    for asked, process in usable(all_asked, SET):
        with suppressing(asked):
            expect(process, "stored", operation="set", key=STORED)
    for asked, process in usable(all_asked, GET, LOAD, TENTH):
        with suppressing(asked):
            expect(process, "miss", operation="get", key="absent")
    for _ in range(2):
        for asked, process in usable(all_asked, KNOWN):
            with suppressing(asked):
                expect(process, "value", operation="get", key=STORED)
        # A cache that listens to the server does so by now, and has a copy after the second time.
        time.sleep(1)
    for asked, process in usable(all_asked, KNOWN):
        with suppressing(asked):
            expect(process, "value", operation="get", key=STORED)


def expect(process: Process, outcome: str, **request: Any) -> None:
    came = process.call(command="run", times=1, **request)["outcome"]
    if came != outcome:
        raise SubjectFailed(f"before the trouble: {came} instead of {outcome}")


def ask(all_asked: Sequence[Asked], bound: float) -> None:
    every = list(usable(all_asked, *OPERATIONS))
    for asked, process in every:
        with suppressing(asked):
            of = asked.operation
            process.send(command="run", operation=of.kind, key=of.key, times=of.times)
            asked.answer = process.answer(ALONE)
    for asked, process in every:
        if asked.answer is None and not asked.failure:
            with suppressing(asked):
                asked.answer = process.answer(bound)
