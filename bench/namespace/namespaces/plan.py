"""The groups: how often and for how long everything is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.bench import Group, open_worker
from harness.callgrind import open_counted
from harness.subject import Subject
from harness.turns import Pace

from . import peers

ROUND_TRIPS = "Round trips to a local Redis"
TIME = "The client alone, without a socket: time"
OBJECTS = "The client alone, without a socket: allocations"
INSTRUCTIONS = "The client alone, without a socket: instructions"

# One of each kind of reply and of rewriting.
QUICK = ("SET", "GET", "MGET (10 keys)", "LRANGE", "KEYS", "MULTI/EXEC")
ALL = 12

# What ruby/lib/measure.rb calls it, and the seconds of a round in full and in a hurry. Counting
# takes no particular time; valgrind is slow, so instructions are not counted in a hurry.
WORKLOADS = {
    ROUND_TRIPS: ("rate", 0.17, 0.06),
    TIME: ("nanoseconds", 0.05, 0.03),
    OBJECTS: ("objects", 0.01, 0.01),
    INSTRUCTIONS: ("instructions", 0.3, 0.3),
}
# Counts of instructions hardly differ by round.
COUNTING_ROUNDS = 2


def groups(quick: bool, tools: Path, checkout: str) -> Sequence[Group]:
    subjects = peers.subjects(checkout)
    libraries = peers.libraries(tools, checkout)
    measured = [one for one in WORKLOADS if not quick or one != INSTRUCTIONS]
    return [_group(workload, quick, subjects, libraries) for workload in measured]


def _group(
    workload: str, quick: bool, subjects: Sequence[Subject], libraries: Mapping[str, str]
) -> Group:
    measure, seconds, hurried = WORKLOADS[workload]
    return Group(
        workload,
        subjects,
        Pace(
            rounds=COUNTING_ROUNDS if workload == INSTRUCTIONS else 10,
            seconds=hurried if quick else seconds,
        ),
        options={"measure": measure, "operations": list(QUICK) if quick else []},
        environment=libraries,
        open=open_counted if workload == INSTRUCTIONS else open_worker,
        operations=len(QUICK) if quick else ALL,
    )
