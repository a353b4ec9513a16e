"""Runs sections one after another and turns whatever happens into counts."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .counts import Counts
from .failures import failures
from .process import run
from .section import Result, Section

# tools/setup.sh ends with this code when a need is missing and cannot be installed.
MISSING = 3
# The last lines of a program that failed without a failed test; the reason is among them.
LAST = 10


class Runner:
    """`set_up` and `make` are given so that the unit tests of the runner need neither."""

    def __init__(
        self,
        root: Path,
        set_up: Callable[[str], int] | None = None,
        make: Callable[[str], int] | None = None,
    ) -> None:
        self.root = root
        self.set_up = set_up or self._set_up
        self.make = make or self._make
        self.have: dict[str, int] = {}
        self.prepared: dict[str, int] = {}
        self.results: list[Result] = []

    def run(self, sections: Sequence[Section]) -> list[Result]:
        for section in sections:
            self._run(section)
        return self.results

    def _run(self, section: Section) -> None:
        started = time.monotonic()
        for need in (*section.needs, *section.likes):
            code = self.have[need] if need in self.have else self.set_up(need)
            self.have[need] = code
            if code == MISSING and need in section.likes:
                continue
            if code == MISSING:
                self._add(section.name, started, Counts(skipped=1), f"no {need} here")
                return
            if code:
                self._add(section.name, started, Counts(failed=1), f"set-up of {need} failed")
                return
        for target in section.prepare:
            if not self._prepare(target):
                self._add(section.name, started, Counts(failed=1), f"make {target} failed")
                return
        self._add(section.name, started, *self._count(section))

    def _prepare(self, target: str) -> bool:
        if target not in self.prepared:
            print(f"\n=== make {target}", flush=True)
            started = time.monotonic()
            self.prepared[target] = self.make(target)
            self._add(f"(make {target})", started, None)
        return self.prepared[target] == 0

    def _count(self, section: Section) -> tuple[Counts, str, tuple[str, ...]]:
        with tempfile.TemporaryDirectory(prefix="polycache-test-") as folder:
            report = Path(folder, "report")
            command = section.command.replace("{report}", str(report))
            print(f"\n=== {section.name}: {command}", flush=True)
            code, output = run(command, self.root / section.folder, section.timeout_minutes * 60)
            counts = section.parser(output, report)
            last = tuple(line for line in output.splitlines() if line.strip())[-LAST:]
            failed = failures(output, report) or last
        if code == 124:
            return (counts or Counts()) + Counts(failed=1), "out of time", failed
        if counts is None or counts.total == 0:
            return Counts(failed=1), f"no test was counted (exit code {code})", failed
        if code and not counts.failed:
            return counts + Counts(failed=1), f"exit code {code}, though no test failed", last
        return counts, "", failed if counts.failed else ()

    def _add(
        self,
        name: str,
        started: float,
        counts: Counts | None,
        note: str = "",
        failed: tuple[str, ...] = (),
    ) -> None:
        minutes = (time.monotonic() - started) / 60
        self.results.append(Result(name, minutes, counts, note, failed))
        said = ": ".join(text for text in (str(counts) if counts else "", note) if text)
        print(f"--- {name}: {minutes:.1f} minutes{'; ' if said else ''}{said}", flush=True)

    def _set_up(self, need: str) -> int:
        return subprocess.call([self.root / "tools/setup.sh", need])

    def _make(self, target: str) -> int:
        return subprocess.call(["make", "--no-print-directory", target], cwd=self.root)
