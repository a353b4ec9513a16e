#!/usr/bin/env python3
"""Simulates eviction policies and compares them with the optimum; `make bench-hit-ratio` calls it.

    make bench-hit-ratio                         generated workloads
    make bench-hit-ratio TRACES=folder           recorded traces too, *.lis.zst
    make bench-hit-ratio QUICK=1                 a subset, under a minute
    make bench-hit-ratio ARGS="--subjects SIEVE LRU --workloads zipf"

Prints a Markdown report and writes bench/results/hit-ratio.jsonl. Fails without writing when a
policy finds more than OPT, or when LRU does not find what was published.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from harness import machine, ours, report, results
from harness.bench import FEWEST_ROUNDS
from harness.progress import Progress
from hitratio.checks import BOUND, WrongSimulation, check
from hitratio.rows import rows
from hitratio.simulator import Outcome, simulate

NAME = "hit-ratio"
TITLE = "Hit ratios of eviction policies"
# In the order of the report: ours first.
POLICIES = [
    "polycache",
    "polycache-host",
    BOUND,
    "FIFO",
    "LRU",
    "CLOCK",
    "W-TinyLFU",
    "S3-FIFO",
    "SIEVE",
    "2Q-CLOCK",
]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"make bench-{NAME} ARGS=...", description=TITLE)
    parser.add_argument("--quick", action="store_true", default=os.environ.get("QUICK") == "1")
    parser.add_argument("--subjects", nargs="+", choices=POLICIES, default=POLICIES)
    parser.add_argument("--workloads", nargs="+", metavar="TEXT", default=[])
    parser.add_argument("--rounds", type=int, default=FEWEST_ROUNDS, help="seeds of what is drawn")
    parser.add_argument(
        "--traces", default=os.environ.get("TRACES", ""), help="folder; none if empty"
    )
    parser.add_argument("--results", type=Path, default=results.path(NAME))
    return parser.parse_args()


def outcomes(options: argparse.Namespace) -> list[Outcome]:
    progress = Progress(1.0)
    step = progress.of(1.0)
    found = []
    for one in simulate(
        quick=options.quick,
        seeds=options.rounds,
        traces=options.traces or None,
        workloads=options.workloads,
        # Without the bound nothing could be refused.
        subjects=[*{BOUND, *options.subjects}],
    ):
        found.append(one)
        step(one.share, f"{one.workload}: round {one.round + 1}")
    progress.end()
    return found


def main() -> None:
    options = arguments()
    if options.rounds < FEWEST_ROUNDS:
        sys.exit(f"{options.rounds} rounds are too few: at least {FEWEST_ROUNDS}")
    started, before = time.monotonic(), machine.load()
    try:
        measured = rows(outcomes(options), POLICIES)
        check(measured)
    except (OSError, RuntimeError, WrongSimulation) as error:
        sys.exit(str(error))
    if not measured:
        sys.exit("nothing to simulate: no such workload")
    about = machine.describe(Path(tempfile.gettempdir()), {}) | {
        "plan": "quick" if options.quick else "full",
        "seconds": round(time.monotonic() - started),
        "load_before": before,
        "load_after": machine.load(),
    }
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(results.json_lines(NAME, measured, about))
    sys.stdout.write(report.markdown(TITLE, BOUND, measured, about, NAME))
    ours.require(measured)


if __name__ == "__main__":
    main()
