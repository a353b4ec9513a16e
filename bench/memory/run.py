#!/usr/bin/env python3
"""Measures caches in one process' memory, on Node and on Bun; `make bench-memory` calls it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from harness.bench import Bench, Group, Setting, main, open_worker
from harness.lane import Lane
from harness.subject import Subject, bun, find, node
from harness.turns import Pace
from memory_keys import order

FOLDER = Path(__file__).resolve().parent
RUNTIMES = {"node": node, "bun": bun}

FULL = Pace(rounds=10, seconds=0.02)
QUICK = Pace(rounds=10, seconds=0.01)

# Seconds that entries live: the page's, and so long that none expires while it is measured.
TTL = 100
LONG = 24 * 3600
# Most entries, the page's.
CAPACITY = 10_000

# ts-cache's caches with promises are in its repository and not in npm's package.
CHECKOUT = (
    "ts-cache-async",
    "ts-cache-async-no-clones",
    "ts-cache-memory-lru",
    "ts-cache-memory-lru-no-clones",
    "ts-cache-lru-driver",
)
# Filling them with many entries takes seconds each: there most variants of a neighbour are left
# out.
NOT_MANY = (
    *CHECKOUT,
    "polycache-memory-freeze",
    "polycache-memory-host-async",
    "polycache-memory-weighed",
    "bentocache-no-clones",
    "cache-manager-clones",
    "keyv-no-clones",
    "map-clones",
    "map-ttl",
    "quick-lru-no-ttl",
    "ts-cache-sync-no-clones",
)
# Those that a full cache makes evict, or should.
BOUNDED = (
    "polycache-host",
    "polycache-memory",
    "polycache-memory-lru",
    "polycache-memory-no-clones",
    "polycache-memory-no-ttl",
    "polycache-memory-weighed",
    "bentocache",
    "lru-cache",
    "lru-cache-no-ttl",
    "mnemonist",
    "node-cache",
    "quick-lru",
    "quick-lru-no-ttl",
    "ts-cache-lru-driver",
    "ts-cache-memory-lru",
    "ts-cache-sync",
)
FIRST = "polycache-memory"
QUICK_SUBJECTS = (
    "polycache-memory",
    "polycache-memory-host",
    "polycache-memory-no-clones",
    "lru-cache",
    "lru-cache-clones",
    "map",
    "node-cache",
    "ts-cache-sync",
)

Draw = Callable[[], list[int]]


def groups(quick: bool) -> list[Group]:
    return [group for runtime in RUNTIMES for group in _of(runtime, quick)]


def _of(runtime: str, quick: bool) -> list[Group]:
    pace = QUICK if quick else FULL
    everything = _subjects(runtime)
    some = [one for one in everything if one.name in QUICK_SUBJECTS]

    def group(what: str, subjects: Sequence[Subject], operations: int, **options: Any) -> Group:
        given = {"ttl": TTL, "capacity": CAPACITY} | options
        return Group(
            f"{runtime}, {what}", subjects, pace=pace, options=given, operations=operations
        )

    def sequence(what: str, subjects: Sequence[Subject], entries: int, draw: Draw) -> Group:
        options = {"kind": "sequence", "entries": entries, "capacity": 2 * entries, "ttl": LONG}
        plain = group(what, subjects, 2, **options)
        return replace(plain, open=partial(_open_with_keys, draw))

    chosen = some if quick else everything
    small = [
        group("small value", chosen, 4, kind="one", value="small"),
        group("batch of 100", chosen, 4, kind="batch"),
        sequence("Zipf over 10k keys", chosen, 10_000, partial(order.zipf, 10_000)),
    ]
    if quick:
        return small
    fewer = [one for one in everything if one.name not in NOT_MANY]
    bounded = [one for one in everything if one.name in BOUNDED]
    return [
        *small,
        group("large value", everything, 2, kind="one", value="large"),
        group("large value of 100 objects", everything, 2, kind="one", value="distinct"),
        sequence("all of 100k keys alike", fewer, 100_000, partial(order.uniform, 100_000)),
        sequence("Zipf over 1M keys", fewer, 1_000_000, partial(order.zipf, 1_000_000)),
        group("full: every SET evicts", bounded, 1, kind="churn", entries=2**18, ttl=LONG),
    ]


def _subjects(runtime: str) -> list[Subject]:
    found = (RUNTIMES[runtime](path) for path in find(FOLDER / "subjects", ".mjs"))
    # Peers are compared with the first of ours: the memory tier with its defaults.
    ordered = sorted(found, key=lambda one: one.name != FIRST)
    return [_or_absent(one, runtime) if one.name in CHECKOUT else one for one in ordered]


def _or_absent(subject: Subject, runtime: str) -> Subject:
    if runtime != "bun":
        why = "its manager imports a module that only Bun has, so it does not load here"
    elif not os.environ.get("TS_CACHE"):
        why = "not in npm's package; TS_CACHE=folder measures a checkout"
    else:
        return subject
    return Subject(subject.name, absent=why)


def _open_with_keys(draw: Draw, subject: Subject, group: Group, setting: Setting) -> Lane:
    """The first caller that opens draws the order of the keys."""
    file = setting.folder / "keys.u32"
    if not file.exists():
        order.write(file, draw())
    return open_worker(
        subject, replace(group, options=dict(group.options) | {"keys": str(file)}), setting
    )


BENCH = Bench(
    name="memory",
    title="Caches in one process' memory, on Node and Bun",
    baseline="lru-cache",
    groups=groups,
    notes=(
        "Timed with mitata; a round's figure is the median of its batches.",
        "DELETE includes a SET and FLUSH includes 100 SETs, as on ts-cache's page.",
    ),
)

if __name__ == "__main__":
    main(BENCH)
