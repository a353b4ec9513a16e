"""The groups: how often and for how long everything is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

# One of each kind of rewriting and of reply.
QUICK = ("GET", "MGET (10 keys)", "KEYS", "MULTI/EXEC")
ALL = 12

# Of Ruby: what ruby/lib/measure.rb calls it, and the seconds of a round in full and in a hurry.
# Counting takes no particular time; valgrind is slow, so instructions are not counted in a hurry.
WORKLOADS = {
    ROUND_TRIPS: ("rate", 0.17, 0.04),
    TIME: ("nanoseconds", 0.05, 0.02),
    OBJECTS: ("objects", 0.01, 0.005),
    INSTRUCTIONS: ("instructions", 0.3, 0.3),
}
# Counts of instructions hardly differ by round.
COUNTING_ROUNDS = 2

# Of the other languages; the sockets of node-redis and of Bun's client cannot be taken out.
OTHERS: Mapping[str, tuple[Callable[[], list[Subject]], Sequence[str]]] = {
    "Python, redis-py": (peers.of_python, ("rate", "nanoseconds")),
    "Node, ioredis": (lambda: peers.of_node("ioredis"), ("rate", "nanoseconds")),
    "Node, node-redis": (lambda: peers.of_node("node-redis"), ("rate",)),
    "Bun, its own client": (peers.of_bun, ("rate",)),
    "Rust, redis-rs": (peers.of_rust, ("rate", "nanoseconds", "instructions")),
}
MEASURES = {
    "rate": ("round trips to a local Redis", 0.08, 0.015),
    "nanoseconds": ("the client alone, without a socket", 0.03, 0.008),
    "instructions": ("the client alone, without a socket: instructions", 0.05, 0.05),
}


def groups(quick: bool, tools: Path, checkout: str) -> Sequence[Group]:
    ruby, libraries = peers.subjects(checkout), peers.libraries(tools, checkout)
    made = [
        _group(workload, how, quick, ruby, libraries)
        for workload, how in WORKLOADS.items()
        if not quick or workload != INSTRUCTIONS
    ]
    for client, (subjects, measures) in OTHERS.items():
        # In a hurry the client alone, where that can be had.
        for measure in measures[1:2] or measures[:1] if quick else measures:
            what, seconds, hurried = MEASURES[measure]
            how = (measure, seconds, hurried)
            made.append(_group(f"{client}: {what}", how, quick, subjects(), libraries))
    return made


def _group(
    workload: str,
    how: tuple[str, float, float],
    quick: bool,
    subjects: Sequence[Subject],
    libraries: Mapping[str, str],
) -> Group:
    measure, seconds, hurried = how
    return Group(
        workload,
        subjects,
        Pace(
            rounds=COUNTING_ROUNDS if measure == "instructions" else 10,
            seconds=hurried if quick else seconds,
        ),
        options={"measure": measure, "operations": list(QUICK) if quick else []},
        environment=libraries,
        open=open_counted if measure == "instructions" else open_worker,
        operations=len(QUICK) if quick else ALL,
    )
