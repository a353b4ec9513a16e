"""Reads how many tests passed, failed and were skipped out of what a test program left behind.

Every parser takes the program's output and the path of its report file, and answers None when it
finds no count at all: the caller makes a failure of that, never a silent zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.skipped

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


Parser = Callable[[str, Path], "Counts | None"]

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def cargo(output: str, report: Path) -> Counts | None:
    """Every `test result:` line that `cargo test` prints: one a test binary and doc test run."""
    line = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.M)
    return _sum(line.findall(COLOURS.sub("", output)))


def minitest(output: str, report: Path) -> Counts | None:
    """Minitest's `N runs, N assertions, N failures, N errors, N skips`."""
    line = re.compile(
        r"^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors, (\d+) skips", re.M
    )
    found = line.findall(COLOURS.sub("", output))
    numbers = [[int(word) for word in row] for row in found]
    return _sum(
        (runs - failures - errors - skips, failures + errors, skips)
        for runs, failures, errors, skips in numbers
    )


def summary(output: str, report: Path) -> Counts | None:
    """The last line that says `N passed, N failed, N skipped`: what our own programs print."""
    line = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*$", re.M)
    return _sum(line.findall(COLOURS.sub("", output))[-1:])


def junit(output: str, report: Path) -> Counts | None:
    """A JUnit XML report (pytest, vitest, Bun). Cases are counted one by one, because the totals
    in its attributes differ from program to program."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    return _sum(_junit_case(case) for case in root.iter("testcase"))


def json_file(output: str, report: Path) -> Counts | None:
    """A report file with at least `{"passed": N, "failed": N}`."""
    try:
        found = json.loads(report.read_text())
        return Counts(int(found["passed"]), int(found["failed"]), int(found.get("skipped", 0)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _junit_case(case: ElementTree.Element) -> tuple[int, int, int]:
    if case.find("failure") is not None or case.find("error") is not None:
        return (0, 1, 0)
    return (0, 0, 1) if case.find("skipped") is not None else (1, 0, 0)


def _sum(rows: Iterable[Iterable[object]]) -> Counts | None:
    counts = [Counts(*(int(str(word)) for word in row)) for row in rows]
    return sum(counts, Counts()) if counts else None
