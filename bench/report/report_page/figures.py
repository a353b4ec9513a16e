"""What bench/results/*.jsonl hold: the lines that harness/results.py writes, read back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.results import NOT_MEASURED
from harness.row import is_ours


@dataclass(frozen=True)
class Figure:
    """A row of a results file. `reason` says why there is no median, if so."""

    workload: str
    subject: str
    operation: str
    unit: str
    median: float | None
    low: float | None
    high: float | None
    rounds: int
    notes: tuple[str, ...]
    reason: str = ""

    @property
    def is_ours(self) -> bool:
        return is_ours(self.subject)

    @property
    def measured(self) -> bool:
        return self.median is not None

    @property
    def value(self) -> float:
        """The median of a figure that was measured."""
        if self.median is None:
            raise ValueError(f"{self.subject}, {self.operation}: {self.reason}")
        return self.median


@dataclass(frozen=True)
class Results:
    """One benchmark's file. `problem` says what is wrong with it, where it cannot be read."""

    bench: str
    machine: dict[str, Any] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    problem: str = ""

    @property
    def quick(self) -> bool:
        return str(self.machine.get("plan", "")).startswith("quick")

    @property
    def workloads(self) -> list[str]:
        return list(dict.fromkeys(one.workload for one in self.figures))

    def of(self, workload: str) -> list[Figure]:
        return [one for one in self.figures if one.workload == workload]


def load(folder: Path) -> dict[str, Results]:
    """The results of every benchmark that has a file in the folder, by its name."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.jsonl"))}


def read(path: Path) -> Results:
    try:
        return parse(path.stem, path.read_text(encoding="utf-8").splitlines())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{path.name} cannot be read: {type(error).__name__}: {error}"
        return Results(path.stem, problem=what)


def parse(bench: str, lines: Iterable[str]) -> Results:
    machine: dict[str, Any] = {}
    figures: list[Figure] = []
    for line in lines:
        if not line.strip():
            continue
        row = json.loads(line)
        if "machine" in row:
            machine = dict(row["machine"])
        else:
            figures.append(_figure(row))
    return Results(bench, machine, tuple(figures))


def _figure(row: dict[str, Any]) -> Figure:
    notes = str(row.get("notes") or "")
    median = row["median"]
    reason = "" if median is not None else notes.removeprefix(NOT_MEASURED) or "no reason given"
    return Figure(
        workload=str(row["workload"]),
        subject=str(row["subject"]),
        operation=str(row["operation"]),
        unit=str(row["unit"]),
        median=_number(median),
        low=_number(row["low"]),
        high=_number(row["high"]),
        rounds=int(row["rounds"]),
        notes=tuple(part for part in notes.split("; ") if part) if median is not None else (),
        reason=reason,
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
