"""What criterion wrote about the benchmarks of one start of the program."""

from __future__ import annotations

import json
from pathlib import Path


def medians(home: Path) -> dict[str, float]:
    """Nanoseconds of one operation, the median of criterion's samples, by the operation's name."""
    found = {}
    for path in home.rglob("new/benchmark.json"):
        name = json.loads(path.read_text())["value_str"]
        estimates = json.loads(path.with_name("estimates.json").read_text())
        found[name] = float(estimates["median"]["point_estimate"])
    return found
