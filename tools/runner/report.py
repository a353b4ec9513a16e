"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

from .counts import Counts
from .section import Result


def total(results: Sequence[Result]) -> Counts:
    return sum((result.counts for result in results if result.counts), Counts())


def table(results: Sequence[Result]) -> str:
    rows = [("section", "minutes", "passed", "failed", "skipped", "")]
    for result in results:
        numbers = _numbers(result.counts) if result.counts else ("", "", "")
        rows.append((result.name, f"{result.minutes:.1f}", *numbers, result.note))
    minutes = sum(result.minutes for result in results)
    rows.append(("all", f"{minutes:.1f}", *_numbers(total(results)), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(_line(row, widths) for row in rows)


def failed(results: Sequence[Result]) -> str:
    """Each failed section with its failed tests: a CI may keep only the last lines of a run."""
    lines = []
    for result in results:
        if result.counts and result.counts.failed:
            lines.append(f"FAILED in {result.name}{': ' if result.note else ''}{result.note}")
            lines += [f"  {line}" for line in result.failures]
    return "\n".join(lines)


def _numbers(counts: Counts) -> tuple[str, str, str]:
    return str(counts.passed), str(counts.failed), str(counts.skipped)


def _line(row: tuple[str, ...], widths: Sequence[int]) -> str:
    name, *numbers = row[:5]
    cells = [name.ljust(widths[0])]
    cells += [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
    return (" | ".join(cells) + (f"   {row[5]}" if row[5] else "")).rstrip()
