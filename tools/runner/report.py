"""The table at the end of a run."""

from __future__ import annotations

from collections.abc import Sequence

from .counts import Counts
from .section import Result


def total(results: Sequence[Result]) -> Counts:
    return sum((result.counts for result in results if result.counts), Counts())


def table(results: Sequence[Result], minutes: float) -> str:
    """`minutes` is what the run took: less than the sum, as sections run beside each other."""
    rows = [("section", "minutes", "of a cpu", "passed", "failed", "skipped", "")]
    for result in results:
        numbers = _numbers(result.counts) if result.counts else ("", "", "")
        times = (f"{result.minutes:.1f}", f"{result.cpu:.1f}")
        rows.append((result.name, *times, *numbers, result.note))
    cpu = sum(result.cpu for result in results)
    rows.append(("all", f"{minutes:.1f}", f"{cpu:.1f}", *_numbers(total(results)), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
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
    name, *numbers = row[:6]
    cells = [name.ljust(widths[0])]
    cells += [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
    return (" | ".join(cells) + (f"   {row[6]}" if row[6] else "")).rstrip()
