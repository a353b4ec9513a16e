#!/usr/bin/env python3
"""Measures how disk caches grow to ten million entries; `make bench-disk-growth` calls it.

    make bench-disk-growth               everything, about 16 minutes
    make bench-disk-growth QUICK=1       small stores, under a minute
    make bench-disk-growth ARGS="--workloads '10000000 entries' --subjects polycache lmdb"

Only a run of all of it replaces bench/results/disk-growth.jsonl.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.bench import Bench, Group, Setting, main, open_worker
from harness.lane import Lane
from harness.subject import Subject, environment, find, python
from harness.turns import Pace
from harness.worker import Unavailable

DISK = Path(__file__).resolve().parent
NAME = "disk-growth"
ELSEWHERE = DISK.parent.parent / "target" / "bench" / f"{NAME}.jsonl"

# Of the class that survives kill -9, and the best that gives that up for as long as a batch takes.
SUBJECTS = ("polycache", "lmdb", "lmdb-batches-of-100", "rocksdict")
USUAL = Pace(rounds=10, seconds=0)
# Where a fill alone takes seconds to minutes, and warms up what can be warm.
FEW = Pace(rounds=3, seconds=0, warm_up=0)
# Entries, bytes of a value, and how often.
FULL = [
    (10_000, 100, USUAL),
    (100_000, 100, USUAL),
    (1_000_000, 100, USUAL),
    (10_000_000, 100, FEW),
    (10_000, 10_000, USUAL),
    (100_000, 10_000, FEW),
]
QUICK = [(1000, 100, USUAL), (10_000, 100, USUAL), (1000, 10_000, USUAL)]

# A run with one of these is not of all.
PARTLY = ("--quick", "--subjects", "--workloads", "--rounds")

GB = 10**9
# The most that all stores of a workload may take of the disk together.
BUDGET = 15 * GB
# Bytes of an entry beside its value, in the store where that is most: pages of LMDB that are not
# full, and what RocksDB has not merged yet.
BESIDE = {100: 250, 10_000: 6000}


def subjects() -> list[Subject]:
    found = {path.stem: path for path in find(DISK / "subjects", ".py")}
    return [python(found[name]) for name in SUBJECTS]


def bytes_at_once(keys: int, size: int) -> int:
    """What all stores of a workload take of the disk."""
    return len(SUBJECTS) * keys * (size + BESIDE[size])


def open_with_room(subject: Subject, group: Group, setting: Setting) -> Lane:
    """A disk that is too small is a row that says so, before others on the machine feel it."""
    needed = bytes_at_once(group.options["keys"], group.options["size"])
    free = shutil.disk_usage(setting.folder).free
    if free < needed:
        raise Unavailable(f"{free / GB:.1f} GB are free, and the stores take {needed / GB:.1f} GB")
    return open_worker(subject, group, setting)


def group(keys: int, size: int, pace: Pace) -> Group:
    # About what an operation takes, for the time left.
    seconds = 0.05 + keys * (1 + size / 1000) * 1e-6
    return Group(
        f"{keys} entries, {size} bytes each",
        subjects(),
        replace(pace, seconds=seconds),
        {"keys": keys, "size": size, "growing": True},
        environment(python=[DISK, DISK / "subjects" / "lib"]),
        open=open_with_room,
        operations=6,
    )


def groups(quick: bool) -> list[Group]:
    return [group(*one) for one in (QUICK if quick else FULL)]


BENCH = Bench(
    name=NAME,
    title="Disk caches that grow",
    baseline="lmdb",
    groups=groups,
    notes=[
        "An empty store grows to so many entries, keys in order; SET is the mean of all sets.",
        "Values are 1,024 distinct random texts.",
        "SIZE of an entry is what the closed store takes of the disk, by its entries.",
        "10000000 entries of 100 bytes and 100000 of 10000 have three rounds and no warm-up.",
        f"The stores of a workload take at most {BUDGET // GB} GB together.",
    ],
)


def destination(given: Sequence[str], quick: bool) -> list[str]:
    """Flags for where the results go: to the committed file only those of all."""
    partly = quick or any(flag in given for flag in PARTLY)
    if not partly or "--results" in given:
        return []
    return ["--results", str(ELSEWHERE)]


if __name__ == "__main__":
    sys.path.insert(0, str(DISK))
    given = sys.argv[1:]
    main(BENCH, [*given, *destination(given, os.environ.get("QUICK") == "1")])
