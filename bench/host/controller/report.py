"""The report a person reads, and the lines a program reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness import results
from harness.row import NANOSECONDS
from harness.row import Row as SharedRow
from harness.spread import CLOSE, ratio

from . import growth
from .goals import GOALS, Goal, evaluate
from .row import P99, P999, Row
from .workload import Workload

NOTE = f"""A ratio is the median over the rounds, with its quartiles in brackets; each round divides
two measurements that were neighbours in time. Within {CLOSE:.0%} of a goal, or of each other, is
too close to call. Durability says what a write survives once it has returned."""

# A bare copy of the bytes: what no store on this machine can do faster.
LIMIT = "copy"
# Units of which less is better, and a ratio says how many times as fast.
TIMES = (NANOSECONDS, P99, P999)
# In Rust the bare engine stands beside the peers: bytes in and bytes out, as they do it.
STANDARD = {"rust": "polycache-store"}


def markdown(rows: list[Row], machine: dict[str, Any]) -> str:
    parts = ["# The host tier beside its peers", NOTE, *_goals(rows)]
    parts += growth.table(rows)
    for language, workload in _unique((row.language, row.workload) for row in rows):
        of_it = [r for r in rows if (r.language, r.workload) == (language, workload)]
        for unit in _unique(row.unit for row in of_it):
            parts += _table(language, workload, unit, [r for r in of_it if r.unit == unit])
    parts += ["## Machine", *(f"- {name}: {value}" for name, value in machine.items())]
    return "\n".join(parts) + "\n"


def json_lines(rows: list[Row], machine: dict[str, Any]) -> str:
    return results.json_lines("host", map(_shared, rows), machine)


def _shared(row: Row) -> SharedRow:
    """The row as all benchmarks write it."""
    return SharedRow(
        f"{row.language}, {row.workload.name}",
        row.subject,
        row.operation,
        row.unit,
        row.samples,
        [row.durability, *row.notes],
        row.failure,
    )


def _goals(rows: list[Row]) -> list[str]:
    workloads = _unique(row.workload for row in rows if not row.workload.room)
    lines = ["", "## Goals", ""]
    lines.append("| goal | | " + " | ".join(w.name for w in workloads) + " |")
    lines.append("|---|---|" + "---|" * len(workloads))
    for goal in GOALS:
        results = [evaluate(goal, workload, rows) for workload in workloads]
        cells = [
            str(result) if result else _nothing(goal, w)
            for result, w in zip(results, workloads, strict=True)
        ]
        sign = "≥" if goal.at_least else "≤"
        lines.append(f"| {goal.text} | {sign} {goal.target:g} | {' | '.join(cells)} |")
    return [*lines, ""]


def _nothing(goal: Goal, workload: Workload) -> str:
    return "not measured" if goal.size in (0, workload.size) else ""


def _table(language: str, workload: Workload, unit: str, rows: list[Row]) -> list[str]:
    ours = STANDARD.get(language, "polycache")
    lines = ["", f"## {language.capitalize()}, {workload.name}", ""]
    lines.append(f"| operation | subject | {unit} | quartiles | durability | {ours} beside it |")
    lines.append("|---|---|---|---|---|---|")
    for row in rows:
        name = f"**{row.subject}**" if row.is_ours else row.subject
        if not row.measured:
            lines.append(f"| {row.operation} | {name} | not measured: {row.failure} | | | |")
            continue
        spread = row.spread
        figures = f"{_grouped(spread.median)} | {_grouped(spread.low)} to {_grouped(spread.high)}"
        beside = _beside(row, ours, rows)
        lines.append(f"| {row.operation} | {name} | {figures} | {row.durability} | {beside} |")
    return [*lines, ""]


def _beside(row: Row, ours: str, rows: list[Row]) -> str:
    """How our equivalent compares with a peer's row."""
    if row.is_ours or row.unit not in TIMES:
        return ""
    own = [r for r in rows if r.measured and (r.subject, r.operation) == (ours, row.family)]
    if not own:
        return ""
    times = ratio(row.samples, own[0].samples).median
    if row.subject == LIMIT:
        return f"the machine's limit; {ours} takes {1 / times:.3g} times as long"
    if abs(times - 1) < CLOSE:
        return f"too close to call ({times:.2f})"
    return (
        f"{times:.3g} times as fast" if times > 1 else f"**SLOWER**: {1 / times:.3g} times the time"
    )


def _grouped(value: float) -> str:
    return f"{value:,.0f}"


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
