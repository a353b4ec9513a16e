"""What must be true of the rows; otherwise the simulator is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from harness.row import Row

BOUND = "OPT"

# LRU's hit ratios in percent as printed in the ARC paper (Megiddo, Modha, FAST 2003), by trace and
# entries. They count all requests from an empty cache on, as we do.
PUBLISHED_LRU = {
    ("trace OLTP", 1000): 32.83,
    ("trace OLTP", 2000): 42.47,
    ("trace OLTP", 5000): 53.65,
    ("trace OLTP", 10_000): 60.70,
    ("trace OLTP", 15_000): 64.63,
    ("trace P3", 32_768): 3.57,
    ("trace P6", 32_768): 4.24,
}
# Half of the last digit printed, and what the processor's rounding adds to it.
ROUNDING = 0.005 + 1e-9


class WrongSimulation(Exception):
    """The figures cannot be right; says which."""


def check(rows: Iterable[Row]) -> None:
    """Raises WrongSimulation."""
    measured = [row for row in rows if row.measured]
    wrong = [*_above_the_bound(measured), *_not_as_published(measured)]
    if wrong:
        raise WrongSimulation("\n".join(wrong))


def _above_the_bound(rows: list[Row]) -> Iterable[str]:
    def place(row: Row) -> tuple[str, str]:
        return row.workload, row.operation

    for _, group in groupby(sorted(rows, key=place), place):
        same = list(group)
        bounds = [row.samples for row in same if row.subject == BOUND]
        for row in same:
            for number, sample in enumerate(row.samples):
                # Every trace's own bound: medians would hide one that is exceeded.
                if bounds and sample > bounds[0][number]:
                    yield (
                        f"{row.workload}, {row.operation}, round {number}: {row.subject} finds "
                        f"{sample}, {BOUND} {bounds[0][number]}: "
                        f"above {BOUND} is a bug in the simulator"
                    )


def _not_as_published(rows: list[Row]) -> Iterable[str]:
    for (workload, capacity), percent in PUBLISHED_LRU.items():
        for row in rows:
            found = (row.workload, row.subject, row.operation)
            if found == (workload, "LRU", f"capacity {capacity}"):
                ours = 100 * row.samples[0]
                if abs(ours - percent) > ROUNDING:
                    yield f"{workload}, {row.operation}: LRU {ours:.3f} %, published {percent} %"
