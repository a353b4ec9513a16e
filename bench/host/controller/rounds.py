"""Lets the subjects of one language take turns under one workload."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.worker import Unavailable, reason

from .growth import space_row
from .place import Opened, open_filled, wipe
from .row import FAMILIES, KEYS, TIERED, Row
from .setting import Setting
from .subjects import Subject
from .workload import Workload

# Operations that only the races use.
ONLY_RACED = ("mixed",)
# Keys at most of a workload whose keys are listed.
LISTED = 1_000
# Operations of the first attempt at a round, and of the longest.
FEWEST, MOST = 50, 500_000
# More reads than this without a value, and the row measured something else.
MISSES_ALLOWED = 0.01
# Seconds before a just-in-time compiler has seen enough, where that is longer than the calibration.
WARM = {"node": 0.4}
# Shares of the time, for the time left.
FILLING, WARMING = 0.15, 0.15


@dataclass
class Cell:
    """An operation of an open subject, and how many of them make a round."""

    opened: Opened
    row: Row
    count: int = FEWEST

    def run(self) -> float:
        """One round; nanoseconds per operation."""
        worker, operation = self.opened.worker, self.row.operation
        if operation in TIERED:
            # Writes since the last round have invalidated what memory held.
            worker.ask(command="run", operation=operation, count=self.row.workload.keys)
        reply = worker.ask(command="run", operation=operation, count=self.count)
        if reply["misses"] > self.count * MISSES_ALLOWED:
            raise Unavailable(f"{reply['misses']} of {self.count} reads found nothing")
        seconds: float = reply["seconds"]
        return seconds / self.count * 1e9

    def calibrate(self, seconds: float) -> None:
        """Finds the count that fills a round; warms everything up on the way."""
        spent = self._time()
        took = spent
        while took < seconds / 2 and self.count < MOST:
            self.count = min(MOST, self.count * 4)
            took = self._time()
            spent += took
        while spent < WARM.get(self.row.language, 0):
            took = self._time()
            spent += took
        self.count = max(1, min(MOST, round(self.count * seconds / took)))
        self.run()

    def _time(self) -> float:
        """One round; seconds."""
        return self.run() * self.count / 1e9

    def attempt(self, action: Callable[[], None]) -> None:
        """A row that fails says so, and the others go on."""
        if self.row.failure:
            return
        try:
            action()
        except Unavailable as error:
            self.row.failure = reason(error)


class Group:
    """All subjects of a language under a workload, open at once."""

    def __init__(self, language: str, workload: Workload, setting: Setting) -> None:
        self.language = language
        self.workload = workload
        self.setting = setting
        self.title = f"{language}, {workload.name}"
        self.missing: list[Row] = []
        self.opened: list[Opened] = []

    def measure(self, subjects: list[Subject]) -> list[Row]:
        self.setting.redis.clear()
        try:
            for subject in subjects:
                self._open(subject)
                self.setting.step(FILLING / len(subjects), f"{self.title}: {subject.name}, filled")
            cells = self._cells()
            self._warm_up(cells)
            self._take_turns(cells)
        finally:
            for opened in self.opened:
                opened.worker.close()
            wipe(self.setting.stores)
        if self.workload.room:
            spaces = [space_row(self.language, self.workload, opened) for opened in self.opened]
            return self.missing + [cell.row for cell in cells] + [row for row in spaces if row]
        return self.missing + [cell.row for cell in cells]

    def _open(self, subject: Subject) -> None:
        directory = self.setting.stores / subject.name
        try:
            self.opened.append(open_filled(subject, self.workload, self.setting, directory))
        except Unavailable as error:
            row = Row(self.language, self.workload, subject.name, "-", "-", failure=reason(error))
            self.missing.append(row)

    def _cells(self) -> list[Cell]:
        """Rows that are compared stand next to each other: their rounds are neighbours in time."""
        cells = [
            Cell(opened, Row(self.language, self.workload, opened.subject, name, durability))
            for opened in self.opened
            for name, durability in opened.operations.items()
            if name not in ONLY_RACED and (name != KEYS or self.workload.keys <= LISTED)
        ]
        return sorted(cells, key=lambda cell: FAMILIES.index(cell.row.family))

    def _warm_up(self, cells: list[Cell]) -> None:
        for cell in cells:
            cell.attempt(lambda cell=cell: cell.calibrate(self.setting.pace.seconds))  # type: ignore[misc]
            self.setting.step(WARMING / len(cells), f"{self.title}: {cell.row.subject}, warm")
            cell.row.notes.append(f"{cell.count} operations a round")
            if cell.opened.turns >= 1:
                cell.row.notes.append(f"space used {cell.opened.turns:.1f} times before")

    def _take_turns(self, cells: list[Cell]) -> None:
        rounds = self.setting.pace.rounds
        for number in range(rounds):
            for cell in cells:
                share = (1 - FILLING - WARMING) / rounds / len(cells)
                cell.attempt(lambda cell=cell: cell.row.samples.append(cell.run()))  # type: ignore[misc]
                self.setting.step(share, f"{self.title}: round {number + 1} of {rounds}")
