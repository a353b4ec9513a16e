"""The cases' list, and what a case is given."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
COMMAND = str(TARGET / "release" / "polycache")
# A process that has not ended by then hangs.
PATIENCE = 120


class Failed(Exception):
    """A case did not turn out as asked; the text is its outcome."""


class Skipped(Exception):
    """This machine cannot run the case; the text says why."""


@dataclass(frozen=True)
class Case:
    group: str
    name: str
    # What must come out.
    asked: str
    # Runs it, and says what came out.
    run: Callable[[Place], str]


CASES: list[Case] = []


def case(
    group: str, name: str, asked: str
) -> Callable[[Callable[[Place], str]], Callable[[Place], str]]:
    """Lists a function as a case. It returns its outcome, or raises Failed."""

    def listed(run: Callable[[Place], str]) -> Callable[[Place], str]:
        CASES.append(Case(group, name, asked, run))
        return run

    return listed


def expect(holds: bool, outcome: str) -> None:
    """Ends the case with this outcome, unless it holds."""
    if not holds:
        raise Failed(outcome)


@dataclass
class Place:
    """A folder of the case's own, and how large the case is."""

    folder: Path
    quick: bool
    # Processes that are still to be ended.
    children: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The cache's directory."""
        return str(self.folder / "cache")

    def many(self, whole: int, quick: int) -> int:
        """So many: the first number, or the second in a short look."""
        return quick if self.quick else whole

    def command(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs the command `polycache` to its end."""
        return subprocess.run(
            [COMMAND, *arguments], capture_output=True, text=True, timeout=PATIENCE, **options
        )

    def program(self, language: Sequence[str], text: str, *arguments: str) -> subprocess.Popen[str]:
        """Starts a program of this text."""
        child = subprocess.Popen(
            [*language, text, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT / "typescript",
        )
        self.children.append(child)
        return child

    def python(self, text: str, *arguments: str) -> subprocess.Popen[str]:
        return self.program([sys.executable, "-c"], text, *arguments)

    def outcome(self, child: subprocess.Popen[str]) -> str:
        """What the program wrote; Failed if it ended with an error, or does not end."""
        try:
            out, err = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"a process did not end within {PATIENCE} s") from late
        if child.returncode != 0:
            last = (err.strip() or out.strip() or "no message").splitlines()[-1]
            raise Failed(f"a process ended with {child.returncode}: {last}")
        return out.strip()


@contextmanager
def a_place(quick: bool) -> Iterator[Place]:
    """A place in a folder of its own; afterwards nothing of it is left."""
    with tempfile.TemporaryDirectory(prefix="polycache-production-") as name:
        place = Place(Path(name), quick)
        try:
            yield place
        finally:
            for child in place.children:
                if child.poll() is None:
                    child.kill()
                child.communicate()


def seconds(since: float) -> str:
    return f"{time.monotonic() - since:.1f} s"
