"""docs/benchmarks.md's table of our stores beside the libraries by hand, from
bench/results/disk.jsonl."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "report")]

from report_page.figures import Results  # noqa: E402
from report_page.quantities import quantities  # noqa: E402

NONE = "No figures are published yet; `make bench-disk` measures on your machine.\n"
OPERATIONS = ("SET", "GET", "GET, random order", "DELETE")
# The subjects of ours and those by hand.
PAIRS = {
    "lmdb": ("polycache-lmdb", "lmdb"),
    "rocksdb": ("polycache-rocksdb", "rocksdict"),
    "dbm": ("polycache-dbm", "sqlite3"),
    "dbm.gnu": ("polycache-gdbm", "gdbm"),
    "dbm.ndbm": ("polycache-ndbm", "ndbm"),
    "berkeleydb": ("polycache-berkeleydb", "berkeleydb"),
    "files": ("polycache-files", "files"),
}

Medians = Mapping[tuple[str, str, str], float]


def block(results: Results) -> str:
    medians = {
        (one.workload, one.subject, one.operation): one.value
        for one in results.figures
        if one.measured and one.unit == "s"
    }
    lines = [
        f"| `{store}` | {hand} | "
        + " | ".join(_cell(medians, ours, hand, operation) for operation in OPERATIONS)
        + " |"
        for store, (ours, hand) in PAIRS.items()
        if any(subject == ours for _, subject, _ in medians)
    ]
    if not lines:
        return NONE
    head = f"| `store=` | by hand | {' | '.join(OPERATIONS)} |\n|---|---|---|---|---|---|\n"
    machine = results.machine
    measured = f"\nMeasured {str(machine['date'])[:10]} on {machine['processor']}.\n"
    return head + "\n".join(lines) + "\n" + measured


def _cell(medians: Medians, ours: str, hand: str, operation: str) -> str:
    """The least and the most microseconds that ours takes longer, of all workloads."""
    found = sorted(
        (median - medians[workload, hand, operation]) / _keys(workload) * 1e6
        for (workload, subject, asked), median in medians.items()
        if (subject, asked) == (ours, operation) and (workload, hand, operation) in medians
    )
    if not found:
        return ""
    return f"{found[0]:+.1f} to {found[-1]:+.1f}".replace("-", "\N{MINUS SIGN}")


def _keys(workload: str) -> float:
    return next(one.value for one in quantities(workload) if not one.is_bytes)
