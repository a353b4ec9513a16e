"""Counts instructions of operations, with valgrind: it decides where times are too close to call.

    export PYTHONPATH=bench:bench/codec
    python -m codec_bench.instructions throughput polycache-host skp-cache

The workload, then subjects; all of them if none is named. An instruction is not a nanosecond: a
miss of the processor's cache is not seen here.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from harness.worker import Unavailable

from .lane import CriterionLane
from .program import Program, compiled

# Operations of the shorter run; the longer one has twice as many. Only they make the difference.
# Enough that random effects (the order of a map) do not show.
COUNT = 1000
VALGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("workload")
    parser.add_argument("subjects", nargs="*")
    asked = parser.parse_args()
    program = Program(compiled())
    print("| operation | subject | instructions |\n|---|---|---|")
    for workload, subject in program.names():
        if workload != asked.workload or (asked.subjects and subject not in asked.subjects):
            continue
        with tempfile.TemporaryDirectory(prefix="polycache-bench-") as folder:
            try:
                lane = CriterionLane(program, workload, subject, Path(folder) / "lane")
                for operation, at_once in lane.proven.times.items():
                    if at_once:  # On several threads; it says nothing new.
                        continue
                    few, many = (count(lane, operation, times) for times in (COUNT, 2 * COUNT))
                    print(f"| {operation} | {subject} | {(many - few) / COUNT:,.0f} |", flush=True)
            except Unavailable as error:
                print(f"| - | {subject} | not counted: {error} |", flush=True)


def count(lane: CriterionLane, operation: str, times: int) -> int:
    """Instructions of one start of the program that does the operation so often."""
    done = subprocess.run(
        [*VALGRIND, str(lane.program.path), "--bench"],
        env=lane.environment() | {"CODEC_REPEAT": operation, "CODEC_COUNT": str(times)},
        capture_output=True,
        text=True,
    )
    return counted(done.stderr)


def counted(said: str) -> int:
    """What valgrind counted, in its own words."""
    found = re.findall(r"I\s+refs:\s+([\d,]+)", said)
    if not found:
        raise Unavailable((said.strip().splitlines() or ["valgrind said nothing"])[-1])
    # The last is its own; criterion's search for gnuplot is a process before it.
    return int(found[-1].replace(",", ""))


if __name__ == "__main__":
    main()
