"""The Markdown that a person reads after a run: ratios first, then figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .compare import beside, reference
from .limits import is_limit
from .row import BESIDE_A_LIMIT, Row
from .spread import CLOSE

NOTE = f"""The ratio says how many times as good (as fast, as small, as many) the subject named in
it is: ours, or the baseline where we have no row. It is the median over the rounds, each of which
divides neighbours in time. A margin under {CLOSE:.0%} is too close to call. Figures are medians,
with the quartiles of the rounds."""


def markdown(
    title: str, baseline: str, rows: list[Row], machine: dict[str, Any], bench: str = ""
) -> str:
    parts = [f"# {title}", "", NOTE]
    for workload in _unique(row.workload for row in rows):
        parts += ["", f"## {workload}", ""]
        of_it = [row for row in rows if row.workload == workload]
        parts += _table(of_it, baseline, bench)
    parts += ["", "## Machine", "", *(f"- {name}: {value}" for name, value in machine.items())]
    return "\n".join(parts) + "\n"


def _table(rows: list[Row], baseline: str, bench: str) -> list[str]:
    lines = ["| operation | subject | ratio | median | quartiles | unit | notes |"]
    lines.append("|---|---|---|---|---|---|---|")
    for key in _unique((row.operation, row.unit) for row in rows):
        same = [row for row in rows if (row.operation, row.unit) == key]
        standard = None if key[1] in BESIDE_A_LIMIT else reference(same, baseline)
        lines += [_line(row, standard, bench) for row in same]
    return lines


def _line(row: Row, standard: Row | None, bench: str) -> str:
    name = f"**{row.subject}**" if row.is_ours else row.subject
    if not row.measured:
        return f"| {row.operation} | {name} | | not measured: {row.failure} | | | |"
    times = ""
    if standard is row:
        times = "1"
    elif standard is not None and is_limit(bench, row.subject, row.operation):
        found = beside(row, standard).times
        times = f"the limit: {found:.3g} to {standard.subject}"
    elif standard is not None:
        times = f"{beside(row, standard)} to {standard.subject}"
    spread = row.spread
    figures = f"{number(spread.median)} | {number(spread.low)} to {number(spread.high)}"
    return (
        f"| {row.operation} | {name} | {times} | {figures} | {row.unit} | {'; '.join(row.notes)} |"
    )


def number(value: float) -> str:
    """Four digits, grouped."""
    if abs(value) >= 1000:
        return f"{float(f'{value:.4g}'):,.0f}"
    return f"{value:.4g}"


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
