"""How one row compares with another, in words that are the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from .row import Row, is_ours, more_is_better
from .spread import CLOSE, quotient, ratio


@dataclass(frozen=True)
class Beside:
    """`times` is how many times as good the reference is as this row: above 1 it is faster, or
    smaller, or finds more."""

    times: float
    reference: str

    @property
    def close(self) -> bool:
        return abs(self.times - 1) < CLOSE

    def __str__(self) -> str:
        ours = is_ours(self.reference)
        if self.close:
            return f"{self.times:.2f} (too close to call)"
        if self.times >= 1 or not ours:
            return f"{self.times:.3g}"
        return f"{self.times:.3g} **we lose**"


def reference(rows: list[Row], baseline: str) -> Row | None:
    """What the rows of one operation are compared with: our first row, or else the baseline's."""
    measured = [row for row in rows if row.measured]
    ours = [row for row in measured if row.is_ours]
    return next(iter(ours or [row for row in measured if row.subject == baseline]), None)


def beside(row: Row, standard: Row) -> Beside:
    """Round by round where both were measured in the same rounds."""
    above, below = row.samples, standard.samples
    if more_is_better(row.unit):
        above, below = below, above
    if len(above) == len(below):
        return Beside(ratio(above, below).median, standard.subject)
    better = row.spread.median, standard.spread.median
    if more_is_better(row.unit):
        better = better[1], better[0]
    return Beside(quotient(*better), standard.subject)
