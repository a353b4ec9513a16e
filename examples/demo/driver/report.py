"""What the person in front of the demo reads, and the count at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from .languages import BY_NAME


class Report:
    """Prints as the demo goes on, and counts the checks."""

    def __init__(self, out: TextIO, colours: bool) -> None:
        self._out = out
        self._colours = colours
        self._good, self._bad = "✓✗" if out.encoding.lower().startswith("utf") else ("ok", "FAILED")
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def title(self, text: str) -> None:
        self.line()
        self.line(self._in_colour("1", text))

    def line(self, text: str = "") -> None:
        print(text, file=self._out, flush=True)

    def lines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.line(text)

    def check(self, good: bool, text: str, details: Iterable[str] = (), count: int = 1) -> None:
        """One line for `count` checks of the same kind; the details stand below it."""
        self.passed += count if good else 0
        self.failed += 0 if good else count
        mark = self._in_colour("32", self._good) if good else self._in_colour("31", self._bad)
        self.line(f"  {mark} {text}")
        self.lines(f"      {detail}" for detail in details)

    def checks(self, text: str, results: Sequence[tuple[bool, str]]) -> None:
        """One line for several checks, `text 12/12`; what failed stands below it."""
        wrong = [detail for good, detail in results if not good]
        self.passed += len(results) - len(wrong)
        self.failed += len(wrong)
        good = f"{len(results) - len(wrong)}/{len(results)}"
        label, _, rest = text.partition(": ")
        mark = self._in_colour("31", self._bad) if wrong else self._in_colour("32", self._good)
        self.line(f"  {mark} {label} {good}: {rest}")
        self.lines(f"      {detail}" for detail in wrong)

    def skip(self, text: str) -> None:
        self.skipped += 1
        self.line(f"  {self._in_colour('33', '-')} skipped: {text}")

    def total(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"

    def _in_colour(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colours else text


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The first column to the left, numbers to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return [
        "  "
        + "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]


def title_of(name: str) -> str:
    """`Rust` for the worker `rust`, `Rust 2` for its twin `rust-2`."""
    language, _, number = name.partition("-")
    return f"{BY_NAME[language].title} {number}".rstrip()


def together(names: Iterable[str]) -> str:
    *most, last = map(title_of, names)
    return f"{', '.join(most)} and {last}" if most else last


def duration(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.2f} {unit}"
    return f"{nanoseconds:.0f} ns"
