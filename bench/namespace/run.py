#!/usr/bin/env python3
"""Measures namespaces on Redis, in four languages; `make bench-namespace` calls it.

    make bench-namespace                                        about nine minutes
    make bench-namespace QUICK=1                                under a minute
    make bench-namespace REDIS_CLIENT_NAMESPACE=<a checkout>    with redis-client-namespace

Prints a Markdown report and writes bench/results/namespace.jsonl.
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.bench import Bench, main
from namespaces import peers, plan

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = Path(os.environ.get("POLYCACHE_TOOLS") or ROOT / "target" / "tools")

BENCH = Bench(
    name="namespace",
    title="Namespaces on Redis",
    baseline="redis-client",
    groups=lambda quick: plan.groups(quick, TOOLS, os.environ.get(peers.CHECKOUT, "")),
    redis=True,
)

if __name__ == "__main__":
    main(BENCH)
