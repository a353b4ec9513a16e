"""The goals of the host tier, as data, and how far the figures are from them."""

from __future__ import annotations

from dataclasses import dataclass

from harness.spread import Spread, ratio, too_close

from .races import ONE, TWO
from .row import Row, find
from .workload import Workload


@dataclass(frozen=True)
class Goal:
    """`above / below`, medians of rounds, must be at least (or at most) `target`."""

    text: str
    language: str
    above: tuple[str, str]
    below: tuple[str, str]
    target: float
    at_least: bool = True
    # Only this size of values; 0 = every one.
    size: int = 0


@dataclass(frozen=True)
class Result:
    ratio: Spread
    verdict: str

    def __str__(self) -> str:
        spread = self.ratio
        return f"**{spread.median:.3g}** ({spread.low:.3g} to {spread.high:.3g}) {self.verdict}"


def _engine_goals(ours: str) -> list[Goal]:
    put, get = (ours, "put"), (ours, "get")
    return [
        Goal(f"{ours} put, to LMDB's single writes", "rust", ("lmdb", "put"), put, 20),
        Goal(
            f"{ours} put, to LMDB's run in one transaction",
            "rust",
            ("lmdb", "put, one transaction"),
            put,
            1.5,
        ),
        Goal(f"{ours} get, to LMDB's, a transaction a read", "rust", ("lmdb", "get"), get, 1.5),
    ]


def _race_goal(operation: str) -> Goal:
    two, one = f"{operation}, {TWO}", f"{operation}, {ONE}"
    text = f"{operation}: two processes to one"
    return Goal(text, "rust", ("polycache-store", two), ("polycache-store", one), 1.8)


def _language_goal(text: str, language: str, peer: tuple[str, str], target: float) -> Goal:
    return Goal(text, language, ("polycache", "get"), peer, target, at_least=False, size=100)


GOALS = [
    *_engine_goals("polycache-store"),
    *_engine_goals("polycache"),
    *(_race_goal(operation) for operation in ("mixed", "put", "get")),
    _language_goal(
        "Python get, share of py-lmdb's time, a transaction a read", "python", ("lmdb", "get"), 0.4
    ),
    _language_goal(
        "Node get, share of lmdb's time, its usual read",
        "node",
        ("lmdb", "get, one transaction"),
        0.5,
    ),
    _language_goal("Ruby get, share of Redis' time", "ruby", ("redis", "get"), 0.05),
]


def evaluate(goal: Goal, workload: Workload, rows: list[Row]) -> Result | None:
    """`None` if the goal does not concern the workload, or a side of it was not measured."""
    if goal.size not in (0, workload.size):
        return None
    above = find(rows, goal.language, workload, *goal.above)
    below = find(rows, goal.language, workload, *goal.below)
    if above is None or below is None:
        return None
    found = ratio(above.samples, below.samples)
    return Result(found, verdict(found.median, goal))


def verdict(value: float, goal: Goal) -> str:
    met = value >= goal.target if goal.at_least else value <= goal.target
    if too_close(value, goal.target):
        return f"{'met' if met else 'missed'}, but too close to call"
    return "met" if met else "MISSED"
