"""Lets the lanes of one workload take turns: A B C, A B C, for every operation of every round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .lane import Lane
from .row import Row
from .worker import Unavailable, reason

Step = Callable[[float, str], None]


@dataclass(frozen=True)
class Pace:
    """How often everything is measured, and for about how long each time. Rounds before the first
    that counts warm up; one of them is always there."""

    rounds: int
    seconds: float
    warm_up: int = 1


@dataclass
class Turns:
    """Rows that are compared are measured next to each other in time. An operation that fails says
    so in its row; the others go on."""

    workload: str
    lanes: Sequence[Lane]
    pace: Pace
    # By subject: those of one family have their turns one right after the other.
    family: Callable[[str], str] = lambda subject: ""
    rows: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    failed: set[tuple[str, str]] = field(default_factory=set)

    def take(self, step: Step) -> list[Row]:
        order = dict.fromkeys(name for lane in self.lanes for name in lane.operations)
        total = sum(len(lane.operations) for lane in self.lanes)
        rounds = self.pace.warm_up + self.pace.rounds
        lanes = sorted(self.lanes, key=lambda lane: self.family(lane.subject))
        for number in range(rounds):
            said = f"{self.workload}: round {number - self.pace.warm_up + 1} of {self.pace.rounds}"
            for operation in order:
                for lane in lanes:
                    if operation in lane.operations:
                        self._turn(lane, operation, counts=number >= self.pace.warm_up)
                        step(1 / total / rounds, said)
        return self._sorted(list(order))

    def _turn(self, lane: Lane, operation: str, counts: bool) -> None:
        if (lane.subject, operation) in self.failed:
            return
        try:
            figures = lane.run(operation, self.pace.seconds)
        except Unavailable as error:
            self.failed.add((lane.subject, operation))
            self._fail(lane, operation, reason(error))
            return
        for figure in figures:
            row = self._row(lane, operation, figure.operation, figure.unit)
            row.notes = list(lane.notes)
            if counts:
                row.samples.append(figure.value)

    def _row(self, lane: Lane, asked: str, operation: str, unit: str) -> Row:
        key = (lane.subject, asked, operation)
        if key not in self.rows:
            self.rows[key] = Row(
                self.workload, lane.subject, operation, unit, notes=list(lane.notes)
            )
        return self.rows[key]

    def _fail(self, lane: Lane, operation: str, why: str) -> None:
        known = [row for key, row in self.rows.items() if key[:2] == (lane.subject, operation)] or [
            self._row(lane, operation, operation, "")
        ]
        for row in known:
            row.failure = why

    def _sorted(self, order: list[str]) -> list[Row]:
        """By operation, and within one in the order of the lanes."""
        names = [lane.subject for lane in self.lanes]
        places: dict[str, int] = {}
        for _, _, name in sorted(self.rows, key=lambda key: order.index(key[1])):
            places.setdefault(name, len(places))
        return sorted(
            self.rows.values(), key=lambda row: (places[row.operation], names.index(row.subject))
        )
