"""What the results of stores that grow say, size by size (bench/disk/growth.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .figures import Results
from .quantities import quantities


@dataclass(frozen=True)
class Curve:
    """A subject's figures of one operation, by entries."""

    value_bytes: int
    operation: str
    unit: str
    subject: str
    is_ours: bool
    points: Sequence[tuple[int, float]]

    @property
    def grew(self) -> float:
        """How many times the last is the first; 0 where nothing grew from nothing."""
        first, last = self.points[0][1], self.points[-1][1]
        return last / first if first else 0.0


def curves(results: Results) -> list[Curve]:
    """By bytes of a value and operation, in the order in which they were measured."""
    found: dict[tuple[int, str, str, str, bool], dict[int, float]] = {}
    for one in results.figures:
        sizes = quantities(one.workload)
        entries = next((int(size.value) for size in sizes if not size.is_bytes), None)
        value = next((int(size.value) for size in sizes if size.is_bytes), None)
        if one.measured and entries is not None and value is not None:
            key = (value, one.operation, one.unit, one.subject, one.is_ours)
            found.setdefault(key, {})[entries] = one.value
    order = list(dict.fromkeys(key[1] for key in found))
    ranked = sorted(found.items(), key=lambda one: (one[0][0], order.index(one[0][1])))
    return [Curve(*key, sorted(points.items())) for key, points in ranked]
