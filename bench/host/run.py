#!/usr/bin/env python3
"""Measures the host tier beside its peers; `make bench-host` calls it.

    make bench-host                      everything, about twenty minutes
    make bench-host QUICK=1              shorter rounds and fewer workloads, under a minute
    make bench-host ARGS="--only rust python --directory /dev/shm --rounds 20"

Prints a Markdown report and writes bench/results/host.jsonl.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from controller import report, subjects
from controller.plan import FULL, QUICK
from controller.run import Bench
from harness import machine, ours, redis_server, results


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measures the host tier beside its peers.")
    parser.add_argument("--quick", action="store_true", default=os.environ.get("QUICK") == "1")
    parser.add_argument("--only", nargs="+", choices=subjects.LANGUAGES, default=subjects.LANGUAGES)
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="such as '1 KB, 10k keys'")
    parser.add_argument("--directory", type=Path, help="where every store lies (default: TMPDIR)")
    parser.add_argument("--rounds", type=int, help="rounds of each row, at least 10")
    parser.add_argument("--results", type=Path, default=results.path("host"))
    return parser.parse_args()


def main() -> None:
    options = arguments()
    plan = (QUICK if options.quick else FULL).only(options.only)
    if options.workloads:
        plan = plan.of_workloads(options.workloads)
    if options.rounds:
        try:
            plan = plan.with_rounds(options.rounds)
        except ValueError as error:
            sys.exit(str(error))
    started, before = time.monotonic(), machine.load()
    with tempfile.TemporaryDirectory(prefix="polycache-bench-", dir=options.directory) as name:
        folder = Path(name)
        with redis_server.running(folder / "redis") as redis:
            bench = Bench(plan, folder, redis)
            bench.run()
        about = machine.describe(folder, bench.versions)
    about |= {
        "plan": str(plan),
        "seconds": round(time.monotonic() - started),
        "load_before": before,
        "load_after": machine.load(),
    }
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(report.json_lines(bench.rows, about))
    sys.stdout.write(report.markdown(bench.rows, about))
    ours.require(bench.rows)


if __name__ == "__main__":
    main()
