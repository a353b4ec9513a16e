"""Two processes at once beside one alone."""

from __future__ import annotations

import os
import time
from statistics import fmean

from harness.row import PER_SECOND
from harness.worker import Unavailable, reason

from .place import Opened, open_filled, wipe
from .row import Row
from .setting import Setting
from .subjects import Subject
from .workload import Workload

LANGUAGE = "rust"
OPERATIONS = ("put", "get", "mixed")
ONE = "one process"
TWO = "two processes"
# The machine's own limit: two processes that share nothing.
APART = "two processes, a directory each"
# From the word to the start: both must have put their keys together by then. Doubled for another
# attempt when one comes late.
NOTICE, ATTEMPTS = 0.01, 8


def race(subject: Subject, workload: Workload, setting: Setting) -> list[Row]:
    """Rows of operations per second, all processes together."""
    shared, other = setting.stores / "shared", setting.stores / "other"
    crew: list[Opened] = []
    try:
        crew.append(open_filled(subject, workload, setting, shared))
        crew.append(open_filled(subject, workload, setting, shared, join=True))
        crew.append(open_filled(subject, workload, setting, other))
        _to_cores(crew)
        rows = _rows(workload, crew[0])
        _run(crew, rows, setting)
    except Unavailable as error:
        row = Row(LANGUAGE, workload, subject.name, TWO, "-", PER_SECOND, failure=reason(error))
        rows = [row]
    finally:
        for opened in crew:
            opened.worker.close()
        wipe(setting.stores)
    return rows


def _to_cores(crew: list[Opened]) -> None:
    """A core for each: a round is over before the kernel separates two processes that it put on
    one."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Unavailable("one core only")
    for opened, core in zip(crew, (cores[0], cores[1], cores[1]), strict=True):
        os.sched_setaffinity(opened.worker.process.pid, {core})


def _rows(workload: Workload, opened: Opened) -> list[Row]:
    return [
        Row(
            LANGUAGE,
            workload,
            opened.subject,
            f"{operation}, {who}",
            opened.operations[operation],
            PER_SECOND,
        )
        for operation in OPERATIONS
        for who in (ONE, TWO, APART)
    ]


def _run(crew: list[Opened], rows: list[Row], setting: Setting) -> None:
    first, second, apart = crew
    # One alone is the mean of each alone: others may load one core more than the other.
    teams = {
        ONE: [[first], [second]],
        TWO: [[first, second]],
        APART: [[first, apart]],
    }
    pace = setting.pace
    for number in range(pace.rounds + 1):
        for row in rows:
            operation, who = row.operation.split(", ", 1)
            rates = [_together(team, operation, pace.seconds) for team in teams[who]]
            if number > 0:  # The first round warms up.
                row.samples.append(fmean(rates))
            share = 1 / len(rows) / (pace.rounds + 1)
            setting.step(share, f"race, {row.workload.name}: round {number} of {pace.rounds}")


def _together(team: list[Opened], operation: str, seconds: float) -> float:
    """Operations per second of a round that all began at the same time."""
    for attempt in range(ATTEMPTS):
        start = time.monotonic_ns() + int(NOTICE * 2**attempt * 1e9)
        for opened in team:
            opened.worker.send(command="race", operation=operation, start_ns=start, seconds=seconds)
        replies = [opened.worker.receive() for opened in team]
        if not any(reply["late"] for reply in replies):
            return sum(float(reply["count"] / reply["seconds"]) for reply in replies)
    raise Unavailable("one of the two always comes too late")
