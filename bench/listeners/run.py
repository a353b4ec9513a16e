#!/usr/bin/env python3
"""Measures what it costs a server to tell hosts of writes; `make bench-listeners` calls it."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.bench import Bench, Group, main
from harness.subject import environment, find, python
from harness.turns import Pace

FOLDER = Path(__file__).resolve().parent
# Not among the others: these are the costs of one way, not rivals to be ranked.
RESULTS = FOLDER / "results.jsonl"

HOSTS = (1, 10, 100)
FULL = Pace(rounds=10, seconds=0.5)
QUICK = Pace(rounds=10, seconds=0.03)


def groups(quick: bool) -> list[Group]:
    subjects = [python(path) for path in find(FOLDER / "subjects", ".py")]
    around = environment(python=[FOLDER / "lib", FOLDER.parent])
    pace = QUICK if quick else FULL
    some = HOSTS[:2] if quick else HOSTS
    return [
        Group(_named(hosts), subjects, pace, {"hosts": hosts}, around, operations=4)
        for hosts in some
    ]


def _named(hosts: int) -> str:
    return "1 host" if hosts == 1 else f"{hosts} hosts"


BENCH = Bench(
    name="listeners",
    title="Hosts that a server tells of writes",
    baseline="no-listener",
    groups=groups,
    notes=(
        "Values are of 100 B, and nobody reads them.",
        "The server's work is what INFO says of its processor.",
        "Server, writer and all hosts share the machine, so pushes a second are a lower bound.",
    ),
    redis=True,
)

if __name__ == "__main__":
    given = sys.argv[1:]
    main(BENCH, given if "--results" in given else [*given, "--results", str(RESULTS)])
