#!/usr/bin/env python3
"""Measures HTTP servers that answer with a Redis stream; `make bench-http` calls it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from harness import subject
from harness.bench import Bench, Group, main
from harness.subject import Subject
from harness.turns import Pace
from serving.lane import REQUESTS, open_fresh, open_sustained
from serving.limits import beside_limits, family

FOLDER = Path(__file__).resolve().parent / "subjects"

# The servers of the published page. The page's load, which takes long and shows little, is put on
# these and on ours.
PAGE = (
    "redis-node-fastify",
    "redis-bun-stric",
    "redis-bun",
    "redis-bun-hono",
    "redis-bun-elysia",
    "ioredis-bun-elysia",
    "ioredis-next-page-dynamic",
    "redis-next-route-dynamic",
    "ioredis-next-route-dynamic",
    "ioredis-next-page-static",
    "redis-next-route-static",
    "ioredis-next-route-static",
)
# Of ours, those that leave out the page's fields, and those in Python and Ruby, are under sustained
# load only.
NOT_ON_PAGE = ("*-value-*", "*-fastapi", "*-rack")
# Left out while the stream changes, so that a full run stays below half an hour: Next, and what
# only promises to read once a second.
NOT_UNDER_WRITES = ("*-next-*", "map-*", "polycache-host-*")
# Those of a quick run, for each load without and with writes. Bun starts quickly.
FEW = ("polycache-http-ioredis-bun", "ioredis-bun-elysia")
FEW_SUSTAINED = (
    "polycache-http-ioredis-bun",
    "polycache-http-ioredis-node-fastify",
    "redis-node-fastify",
    "constant-bun",
)
# How often the stream changes in the workloads that say so.
WRITES_A_SECOND = 10
# What a subject's file runs on, by its ending; .mjs with `bun` in the name runs on Bun.
RUNS_ON = {
    ".mjs": lambda path: (subject.bun if "bun" in path.stem.split("-") else subject.node)(path),
    ".py": subject.python,
    ".rb": subject.ruby,
    ".sh": subject.shell,
}
# Each round of the page's load starts a server, which leaves nothing to warm up.
FRESH = Pace(rounds=10, seconds=1.0, warm_up=0)


def subjects() -> list[Subject]:
    """A file each."""
    found = [
        runs_on(path)
        for ending, runs_on in RUNS_ON.items()
        for path in subject.find(FOLDER, ending)
    ]
    return sorted(found, key=lambda one: (not one.is_ours, one.name))


def groups(quick: bool) -> Sequence[Group]:
    every = subjects()
    page = [one for one in every if on_page(one)]
    changing = [one for one in every if not matches(one, NOT_UNDER_WRITES)]
    steady = Pace(rounds=10, seconds=0.15 if quick else 1.0)
    writes = {"writes_a_second": WRITES_A_SECOND}
    said = f"{WRITES_A_SECOND} writes a second"
    fresh = partial(Group, pace=FRESH, open=open_fresh, operations=1)
    names = [one.name for one in every]
    sustained = partial(
        Group,
        pace=steady,
        open=open_sustained,
        family=lambda name: family(name, names),
        derive=beside_limits,
        operations=1,
    )
    plan = [
        fresh(f"{REQUESTS} requests", page),
        sustained("sustained", every),
        fresh(
            f"{REQUESTS} requests, {said}",
            [one for one in changing if one in page],
            options=writes,
        ),
        sustained(f"sustained, {said}", changing, options=writes),
    ]
    if not quick:
        return plan
    return [group.only(few) for group, few in zip(plan, 2 * (FEW, FEW_SUSTAINED), strict=True)]


def on_page(one: Subject) -> bool:
    return one.name in PAGE or (one.is_ours and not matches(one, NOT_ON_PAGE))


def matches(one: Subject, patterns: Sequence[str]) -> bool:
    return any(fnmatch(one.name, pattern) for pattern in patterns)


BENCH = Bench(
    name="http",
    title="HTTP servers that answer with a Redis stream",
    baseline="redis-node-fastify",
    groups=groups,
    notes=("wrk, Redis and the server share the machine's cores: a figure is what all three do.",),
    redis=True,
)

if __name__ == "__main__":
    # Servers are groups of their own: also where only this process is told to end, they must.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    main(BENCH)
