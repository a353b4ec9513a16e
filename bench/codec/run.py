#!/usr/bin/env python3
"""Measures Rust caches, serializers and compressors beside skp-cache; `make bench-codec` calls it.

    make bench-codec                     everything, about six minutes
    make bench-codec QUICK=1             a subset in under a minute
    make bench-codec ARGS="--workloads throughput --subjects polycache-host skp-cache"

Prints a Markdown report and writes bench/results/codec.jsonl.
"""

from __future__ import annotations

from codec_bench.plan import groups
from harness.bench import Bench, main

BENCH = Bench(
    name="codec",
    title="Caches, serializers and compressors in Rust",
    baseline="skp-cache",
    groups=groups,
    notes=[
        "One program for all subjects, cargo's release profile, measured by criterion.",
        "A cache's set and get are of one caller, where nothing else is said.",
    ],
)

if __name__ == "__main__":
    main(BENCH)
