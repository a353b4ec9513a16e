"""Medians with the spread around them, and what may be concluded from two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import median, quantiles

# A margin below this is not called a difference.
CLOSE = 0.10


@dataclass(frozen=True)
class Spread:
    """The median of some rounds, and the quartiles around it."""

    median: float
    low: float
    high: float
    rounds: int


def spread(samples: Sequence[float]) -> Spread:
    if not samples:
        raise ValueError("no rounds were measured")
    if len(samples) == 1:
        return Spread(samples[0], samples[0], samples[0], 1)
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return Spread(median(samples), low, high, len(samples))


def ratio(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Round by round, because neighbours in time met the same disturbances."""
    if len(above) != len(below):
        raise ValueError(f"{len(above)} rounds beside {len(below)}")
    return spread([quotient(a, b) for a, b in zip(above, below, strict=True)])


def quotient(above: float, below: float) -> float:
    """Compared with 0, anything is infinitely more, and 0 is the same: a hit ratio may be 0."""
    if below:
        return above / below
    return inf if above else 1.0


def too_close(value: float, target: float) -> bool:
    """True when the value is within a tenth of the target, on either side."""
    return abs(value / target - 1) < CLOSE
