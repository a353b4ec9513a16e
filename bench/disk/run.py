#!/usr/bin/env python3
"""Measures disk caches of Python; `make bench-disk` calls it.

    make bench-disk                      everything, about 14 minutes
    make bench-disk QUICK=1              fewer keys and workloads, under a minute
    make bench-disk ARGS="--subjects polycache lmdb --workloads 'processes' --directory /dev/shm"

BLOB_CACHE=<folder> adds the page's own cache, from a checkout.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from harness.bench import Bench, Group, main
from harness.subject import Subject, environment, find, python
from harness.turns import Pace

DISK = Path(__file__).resolve().parent
ROUNDS = 10
# The page's workloads, by how many keys and bytes each.
FULL = [(10_000, 1000), (10_000, 10_000), (100_000, 100), (100_000, 1000)]
QUICK = [(10_000, 1000)]
# Of the keys of a round, in a quick run.
QUICK_SHARE = 0.1
SHARED = (10_000, 1000)
# Seconds of a round of several processes, in full and quickly.
SHARED_SECONDS = {False: 0.1, True: 0.05}


def subjects() -> list[Subject]:
    found = [python(path) for path in find(DISK / "subjects", ".py")]
    if os.environ.get("BLOB_CACHE"):
        return found
    why = "not on a package registry: give a checkout's folder as BLOB_CACHE"
    return [Subject(one.name, absent=why) if one.name == "blob_cache" else one for one in found]


def one_process(keys: int, size: int, quick: bool) -> Group:
    share = QUICK_SHARE if quick else 1
    # About what an operation takes, for the time left.
    pace = Pace(ROUNDS, 0.02 + keys * share * (1 + size / 1000) * 5e-7)
    return Group(
        f"{keys} entries, {size} bytes each",
        subjects(),
        pace,
        {"keys": keys, "size": size, "share": share, "percentiles": not quick},
        environment(python=[DISK, DISK / "subjects" / "lib"]),
        operations=8,
    )


def processes(count: int, quick: bool) -> Group:
    keys, size = SHARED
    return Group(
        f"{keys} entries, {size} bytes each, {count} processes",
        subjects(),
        Pace(ROUNDS, SHARED_SECONDS[quick]),
        {
            "keys": keys,
            "size": size,
            "share": QUICK_SHARE if quick else 1,
            "processes": count,
        },
        environment(python=[DISK, DISK / "subjects" / "lib"]),
        operations=2,
    )


def groups(quick: bool) -> list[Group]:
    alone = [one_process(keys, size, quick) for keys, size in (QUICK if quick else FULL)]
    return [*alone, *(processes(count, quick) for count in ((4,) if quick else (2, 4)))]


BENCH = Bench(
    name="disk",
    title="Disk caches of Python",
    baseline="lmdb",
    groups=groups,
    notes=[
        "SET, GET and DELETE are seconds for all keys.",
        "Values are 1,024 distinct random texts.",
        "SIZE is what the closed store takes of the disk.",
    ],
)

if __name__ == "__main__":
    sys.path.insert(0, str(DISK))
    main(BENCH)
