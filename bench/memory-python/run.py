#!/usr/bin/env python3
"""Measures caches in a Python process' memory; `make bench-memory-python` calls it.

make bench-memory-python                      everything, about two minutes
make bench-memory-python QUICK=1              fewer keys, under a minute
make bench-memory-python ARGS="--subjects polycache cachebox-lru --workloads text"
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.bench import Bench, Group, main
from harness.subject import environment, find, python
from harness.turns import Pace

HERE = Path(__file__).resolve().parent
ROUNDS = 12
# Seconds of a round, in full and quickly.
SECONDS = {False: 0.06, True: 0.02}
KEYS = {
    "text keys": "text",
    "int keys": "int",
    "tuple keys": "tuple",
    "keys with an __eq__ of their own": "object",
}


def group(workload: str, keys: str, quick: bool, operations: int) -> Group:
    return Group(
        workload,
        [python(path) for path in find(HERE / "subjects", ".py")],
        Pace(ROUNDS, SECONDS[quick]),
        {"keys": keys},
        environment(python=[HERE / "subjects" / "lib"]),
        operations=operations,
    )


def groups(quick: bool) -> list[Group]:
    wanted = {"text keys": "text"} if quick else KEYS
    return [group(name, keys, quick, 6) for name, keys in wanted.items()]


BENCH = Bench(
    name="memory-python",
    title="Caches in a Python process' memory",
    baseline="cachebox-lru",
    groups=groups,
    notes=[
        "1,000 keys in caches of 10,000 entries; half of those asked for are other objects than "
        "those that were stored.",
        "An operation includes its share of a Python loop, some 5 ns.",
    ],
)

if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main(BENCH)
