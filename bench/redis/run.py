#!/usr/bin/env python3
"""Measures Redis clients of Node, Bun, Python and Ruby; `make bench-redis` calls it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.bench import Bench, Group, main
from harness.subject import Subject, bun, environment, find, node, python, ruby
from harness.turns import Pace

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
TOOLS = Path(os.environ.get("POLYCACHE_TOOLS") or ROOT / "target" / "tools")
# Where setup.sh unpacks the clients of Ruby.
GEMS = TOOLS / "debian" / "trixie" / "usr" / "share" / "rubygems-integration" / "all" / "gems"
LIBRARIES = TOOLS / "debian" / "trixie" / "usr" / "lib" / "ruby" / "vendor_ruby"
RUNTIMES = {"node": node, "bun": bun}

FULL = Pace(rounds=12, seconds=0.08)
QUICK = Pace(rounds=10, seconds=0.015)

BUNS_OWN = ("bun-redis", "ts-cache-redis")


def groups(quick: bool) -> list[Group]:
    scripts = {runtime: _subjects(runtime) for runtime in RUNTIMES}
    others = {
        "python": [python(path) for path in find(FOLDER / "python", ".py")],
        "ruby": [ruby(path) for path in find(FOLDER / "ruby", ".rb")],
    }
    every = [*scripts.items(), *others.items()]
    some = [group for language, subjects in every for group in _of(language, subjects, quick)]
    return [*some, _hot_key(quick)]


def _hot_key(quick: bool) -> Group:
    """What reaches the server of four processes that read one key."""
    subjects = [python(path) for path in find(FOLDER / "hot-key", ".py")]
    around = environment(python=[FOLDER / "python" / "lib"])
    pace = QUICK if quick else FULL
    return Group("python, one hot key", subjects, pace, {}, around, operations=2)


def _of(language: str, subjects: Sequence[Subject], quick: bool) -> list[Group]:
    pace = QUICK if quick else FULL
    gems = [*sorted(GEMS.glob("*/lib")), LIBRARIES]
    around = environment(python=[FOLDER / "python" / "lib"], ruby=[FOLDER / "ruby" / "lib", *gems])

    def group(what: str, operations: int, **options: Any) -> Group:
        return Group(f"{language}, {what}", subjects, pace, options, around, operations=operations)

    some = [
        group("small value", 8, kind="one", value="small"),
        group("batch of 100", 7, kind="batch"),
    ]
    return some if quick else [*some, group("large value", 2, kind="one", value="large")]


def _subjects(runtime: str) -> Sequence[Subject]:
    found = (RUNTIMES[runtime](path) for path in find(FOLDER / "subjects", ".mjs"))
    return [_or_absent(one, runtime) if one.name in BUNS_OWN else one for one in found]


def _or_absent(subject: Subject, runtime: str) -> Subject:
    if runtime != "bun":
        return Subject(subject.name, absent="Bun's own client: on Bun only")
    if subject.name == "ts-cache-redis" and not os.environ.get("TS_CACHE"):
        why = "not in npm's package; TS_CACHE=folder measures a checkout"
        return Subject(subject.name, absent=why)
    return subject


BENCH = Bench(
    name="redis",
    title="Redis clients of Node, Bun, Python and Ruby",
    baseline="ioredis",
    groups=groups,
    notes=(
        "JavaScript is timed with mitata; a round's figure is the median of its batches.",
        "Calls are awaited one after the other, over loopback TCP.",
        "The server has a processor to itself, and the clients have the others.",
        "DELETE includes a SET, and that of a batch 100, as on ts-cache's page.",
    ),
    redis=True,
    redis_apart=True,
)

if __name__ == "__main__":
    main(BENCH)
