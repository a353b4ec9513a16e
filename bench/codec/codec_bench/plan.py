"""Which workloads are measured, and how long."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from harness.bench import Group, Setting
from harness.lane import Lane
from harness.subject import ROOT, Subject
from harness.turns import Pace
from harness.worker import Unavailable, reason

from .lane import CriterionLane
from .program import Program, compiled

# Seconds are those of one operation.
FULL = Pace(rounds=10, seconds=0.03)
QUICK = Pace(rounds=10, seconds=0.01)

QUICK_WORKLOADS = {
    "throughput",
    "serializers, large",
    "compression, 10 KB of zeros",
    "compression, 10 KB of JSON",
    "encryption, 1 KB of JSON",
    "configurations, large",
}
# Not measured when it must be quick.
SLOW_SUBJECTS = {
    "skp-cache, Bincode",
    "cached",
    "cached + JSON",
    "foyer + JSON",
    "mini-moka",
    "mini-moka + JSON",
    "moka + JSON",
    "zstd, streamed",
}

# About how many operations a subject has, for the time left.
OPERATIONS = {
    "throughput": 9,
    "serializers": 4,
    "compression": 8,
    "encryption": 2,
    "configurations": 10,
}

# Where there is a file of a stream's entries: the one that bench/http serves.
STREAM = ROOT / "examples" / "http" / "stream.json"


def groups(quick: bool) -> list[Group]:
    stream = Path(os.environ.get("STREAM") or STREAM)
    try:
        program = Program(compiled(), stream.resolve() if stream.exists() else None)
        names = program.names()
    except Unavailable as error:
        why = f"the Rust program: {reason(error)}"
        return [Group("throughput", [Subject("skp-cache", absent=why)], FULL)]
    return [
        Group(
            workload,
            [Subject(subject) for subject in subjects],
            QUICK if quick else FULL,
            open=partial(open_criterion, program),
            operations=OPERATIONS[workload.partition(",")[0]],
        )
        for workload, subjects in by_workload(names, quick).items()
    ]


def by_workload(names: Iterable[tuple[str, str]], quick: bool) -> dict[str, Sequence[str]]:
    chosen: dict[str, list[str]] = {}
    for workload, subject in names:
        if quick and (workload not in QUICK_WORKLOADS or subject in SLOW_SUBJECTS):
            continue
        chosen.setdefault(workload, []).append(subject)
    return {workload: subjects for workload, subjects in chosen.items()}


def open_criterion(program: Program, subject: Subject, group: Group, setting: Setting) -> Lane:
    number = [one.name for one in group.subjects].index(subject.name)
    return CriterionLane(program, group.workload, subject.name, setting.folder / f"{number}")
