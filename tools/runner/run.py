"""Runs sections beside each other and turns whatever happens into counts."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .console import Console
from .counts import Counts
from .failures import failures
from .process import OUT_OF_TIME, Ended, kill_all, run
from .schedule import Schedule
from .section import Result, Section

# tools/setup.sh ends with this code when a need is missing and cannot be installed.
MISSING = 3
# The last lines of a program that failed without a failed test; the reason is among them.
LAST = 10


class Runner:
    """`lanes` is how many sections run at the same time. `set_up` and `make` are given so that the
    unit tests of the runner need neither."""

    def __init__(
        self,
        root: Path,
        set_up: Callable[[str], int] | None = None,
        make: Callable[[str], int] | None = None,
        lanes: int = 1,
        console: Console | None = None,
    ) -> None:
        self.root = root
        self.lanes = lanes
        self.console = console or Console()
        self.set_up = set_up
        self.make = make
        self.have: dict[str, int] = {}
        self.prepared: dict[str, int] = {}
        self.results: list[Result] = []
        # One installs or builds, and who needs the same waits, and finds it done.
        self.setting_up = threading.Lock()
        self.preparing = threading.Lock()

    def run(self, sections: Sequence[Section]) -> list[Result]:
        """The results in the order in which they came."""
        schedule = Schedule(sections)
        # Daemons: Python would wait for others, after Ctrl-C as well.
        lanes = [
            threading.Thread(target=self._lane, args=(schedule,), daemon=True)
            for _ in range(self.lanes)
        ]
        try:
            for lane in lanes:
                lane.start()
            # In steps: the system may give Ctrl-C to another thread, and then only a step sees it.
            while any(lane.is_alive() for lane in lanes):
                time.sleep(0.05)
        except BaseException:
            schedule.stop()
            kill_all()
            raise
        return self.results

    def _lane(self, schedule: Schedule) -> None:
        while section := schedule.take():
            try:
                self._run(section)
            except Exception as error:
                # Of the runner itself: a section that is not in the table would not be missed.
                self._add(Result(section.name, 0, Counts(failed=1), f"no result: {error!r}"))
            finally:
                schedule.give_back(section)

    def _run(self, section: Section) -> None:
        for target in section.prepare:
            if not self._prepare(target):
                self._add(Result(section.name, 0, Counts(failed=1), f"make {target} failed"))
                return
        self.console.begin(section.name)
        try:
            self._add(self._result(section), within=section.name)
        finally:
            self.console.end(section.name)

    def _result(self, section: Section) -> Result:
        started = time.monotonic()

        def result(counts: Counts, note: str = "", failed: tuple[str, ...] = ()) -> Result:
            return Result(section.name, (time.monotonic() - started) / 60, counts, note, failed)

        for need in (*section.needs, *section.likes):
            code = self._need(need, section.name)
            if code == MISSING and need in section.likes:
                continue
            if code == MISSING:
                return result(Counts(skipped=1), f"no {need} here")
            if code:
                return result(Counts(failed=1), f"set-up of {need} failed")
        return self._count(section, started)

    def _need(self, need: str, name: str) -> int:
        with self.setting_up:
            if need not in self.have:
                self.have[need] = (
                    self.set_up(need)
                    if self.set_up
                    else self._process(f"tools/setup.sh {need}", name).code
                )
            return self.have[need]

    def _prepare(self, target: str) -> bool:
        with self.preparing:
            if target not in self.prepared:
                name = f"(make {target})"
                started = time.monotonic()
                self.console.begin(name)
                self.console.write(name, f"\n=== make {target}\n")
                try:
                    ended = (
                        Ended(self.make(target), "", 0)
                        if self.make
                        else self._process(f"make --no-print-directory {target}", name)
                    )
                    self.prepared[target] = ended.code
                    minutes = (time.monotonic() - started) / 60
                    self._add(Result(name, minutes, cpu=ended.cpu / 60), within=name)
                finally:
                    self.console.end(name)
            return self.prepared[target] == 0

    def _count(self, section: Section, started: float) -> Result:
        with tempfile.TemporaryDirectory(prefix="polycache-test-") as folder:
            report = Path(folder, "report")
            command = section.command.replace("{report}", str(report))
            self.console.write(section.name, f"\n=== {section.name}: {command}\n")
            ended = self._process(command, section.name, section)
            counts = section.parser(ended.output, report)
            last = tuple(line for line in ended.output.splitlines() if line.strip())[-LAST:]
            failed = failures(ended.output, report) or last
        minutes = (time.monotonic() - started) / 60

        def result(counts: Counts, note: str = "", failed: tuple[str, ...] = ()) -> Result:
            return Result(section.name, minutes, counts, note, failed, ended.cpu / 60)

        if ended.code == OUT_OF_TIME:
            return result((counts or Counts()) + Counts(failed=1), "out of time", failed)
        if counts is None or counts.total == 0:
            said = f"no test was counted (exit code {ended.code})"
            return result(Counts(failed=1), said, failed)
        if ended.code and not counts.failed:
            said = f"exit code {ended.code}, though no test failed"
            return result(counts + Counts(failed=1), said, last)
        return result(counts, "", failed if counts.failed else ())

    def _process(self, command: str, name: str, section: Section | None = None) -> Ended:
        def show(line: str) -> None:
            self.console.write(name, line)

        if section is None:
            return run(command, self.root, show)
        return run(command, self.root / section.folder, show, section.timeout_minutes * 60)

    def _add(self, result: Result, within: str = "") -> None:
        self.results.append(result)
        counts = str(result.counts) if result.counts else ""
        said = ": ".join(text for text in (counts, result.note) if text)
        line = f"--- {result.name}: {result.minutes:.1f} minutes{'; ' if said else ''}{said}\n"
        if not within:
            self.console.begin(result.name)
        self.console.write(result.name, line)
        if not within:
            self.console.end(result.name)
