#!/usr/bin/env python3
"""Measures HTTP servers that answer with a Redis stream; `make bench-http` calls it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from harness import subject
from harness.bench import Bench, Group, main
from harness.subject import Subject
from harness.turns import Pace
from serving.lane import REQUESTS, open_fresh, open_sustained

FOLDER = Path(__file__).resolve().parent / "subjects"

# Rows that the page lacks are left out of its load, which takes long and shows little.
NOT_ON_PAGE = (
    "constant-*",
    "map-*",
    "ioredis-node-fastify",
    "ioredis-bun",
    "ioredis-bun-hono",
    "polycache-http-value-*",
)
# Those of a quick run.
FEW = (
    "polycache-http-ioredis-node-fastify",
    "polycache-host-node-fastify",
    "redis-node-fastify",
    "ioredis-bun-elysia",
)
FEW_SUSTAINED = (
    *FEW,
    "polycache-http-ioredis-bun",
    "constant-bun",
    "constant-bun-elysia",
    "ioredis-next-route-static",
)
# Each round of the page's load starts a server, which leaves nothing to warm up.
PAGE = Pace(rounds=10, seconds=1.0, warm_up=0)


def subjects() -> list[Subject]:
    """A file each; with `bun` in its name it runs on Bun."""
    return [
        subject.bun(path) if "bun" in path.stem.split("-") else subject.node(path)
        for path in subject.find(FOLDER, ".mjs")
    ]


def groups(quick: bool) -> Sequence[Group]:
    every = subjects()
    page = [one for one in every if not any(fnmatch(one.name, name) for name in NOT_ON_PAGE)]
    sustained = Pace(rounds=10, seconds=0.3 if quick else 1.0)
    both = [
        Group(f"{REQUESTS} requests", page, PAGE, open=open_fresh, operations=1),
        Group("sustained", every, sustained, open=open_sustained, operations=1),
    ]
    if not quick:
        return both
    return [group.only(few) for group, few in zip(both, (FEW, FEW_SUSTAINED), strict=True)]


BENCH = Bench(
    name="http",
    title="HTTP servers of Node and Bun that answer with a Redis stream",
    baseline="redis-node-fastify",
    groups=groups,
    notes=("wrk, Redis and the server share the machine's cores: a figure is what all three do.",),
    redis=True,
)

if __name__ == "__main__":
    # Servers are groups of their own: also where only this process is told to end, they must.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    main(BENCH)
