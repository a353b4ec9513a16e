#!/usr/bin/env python3
"""Runs the benchmarks that are named, one after another; `make bench` calls it with all of them.

Each prints its report into target/bench/<name>.md. One that fails is named at the end, and the
others go on. How long each takes is known from its last results.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from harness import results

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "target" / "bench"

# Seconds, where there are no results yet.
USUAL = {"full": 300.0, "quick": 60.0}
# Seconds of set-up: checking that everything is built and installed.
SETTING_UP = 5.0


def expected(name: str, plan: str) -> float:
    """Seconds that the benchmark took the last time it ran in full (or quickly)."""
    path = results.path(name)
    with path.open() if path.exists() else open(os.devnull) as lines:
        first = lines.readline()
    about = json.loads(first).get("machine", {}) if first else {}
    known = about.get("seconds") if about.get("plan", "").startswith(plan) else None
    return SETTING_UP + (known or USUAL[plan])


def run(name: str) -> bool:
    with (REPORTS / f"{name}.md").open("w") as report:
        done = subprocess.run(["make", "--no-print-directory", f"bench-{name}"], stdout=report)
    return done.returncode == 0


def main(names: list[str]) -> int:
    plan = "quick" if os.environ.get("QUICK") == "1" else "full"
    REPORTS.mkdir(parents=True, exist_ok=True)
    left = {name: expected(name, plan) for name in names}
    total, failed = sum(left.values()), []
    for number, name in enumerate(names, 1):
        share = 1 - sum(left.values()) / total
        bar = "#" * round(20 * share)
        print(
            f"[{bar:.<20}] {number} of {len(names)}: bench-{name}, about {minutes(left[name])}; "
            f"{minutes(sum(left.values()))} left in all",
            flush=True,
        )
        started = time.monotonic()
        if not run(name):
            failed.append(name)
        print(
            f"bench-{name}: {'FAILED' if name in failed else 'done'} in "
            f"{minutes(time.monotonic() - started)}, report in target/bench/{name}.md",
            flush=True,
        )
        del left[name]
    if failed:
        print(f"failed: {' '.join(failed)}")
    return 1 if failed else 0


def minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
