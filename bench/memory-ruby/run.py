#!/usr/bin/env python3
"""Measures caches in a Ruby process' memory; `make bench-memory-ruby` calls it.

make bench-memory-ruby                      everything, about two minutes
make bench-memory-ruby QUICK=1              one kind of value, under a minute
make bench-memory-ruby ARGS="--subjects polycache-memory activesupport-memory-store"
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.bench import Bench, Group, main
from harness.subject import environment, find, ruby
from harness.turns import Pace

HERE = Path(__file__).resolve().parent
TOOLS = Path(os.environ.get("POLYCACHE_TOOLS", HERE.parents[1] / "target" / "tools"))
# Debian trixie's peers, which setup.sh unpacks there: gems, and folders of Ruby's own.
DEBIAN = TOOLS / "debian" / "trixie" / "usr"
GEMS = DEBIAN / "share" / "rubygems-integration" / "all" / "gems"
ROUNDS = 10
# Seconds of a round, in full and quickly.
SECONDS = {False: 0.1, True: 0.03}
VALUES = {"text of 100 bytes": "text", "a Hash of five fields": "hash", "a list of 100": "list"}
OPERATIONS = 4


def groups(quick: bool) -> list[Group]:
    gems = [*sorted(GEMS.glob("*/lib")), *sorted(GEMS.glob("*/lib/concurrent-ruby"))]
    return [
        Group(
            workload,
            [ruby(path) for path in find(HERE / "subjects", ".rb")],
            Pace(ROUNDS, SECONDS[quick]),
            {"values": values},
            environment(
                ruby=[HERE / "subjects" / "lib", *gems, DEBIAN / "lib" / "ruby" / "vendor_ruby"]
            ),
            operations=OPERATIONS,
        )
        for workload, values in VALUES.items()
        if not quick or values == "hash"
    ]


BENCH = Bench(
    name="memory-ruby",
    title="Caches in a Ruby process' memory",
    baseline="activesupport-memory-store",
    groups=groups,
    notes=[
        "1,000 keys in caches of 10,000 entries, asked for in turn; the full cache has 1,000, "
        "and every set is of a new key.",
        "An operation includes its share of a Ruby loop, some 30 ns.",
    ],
)

if __name__ == "__main__":
    main(BENCH)
