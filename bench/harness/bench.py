"""A benchmark as data, and what carries it out."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import machine, ours, redis_server, report, results
from .lane import Lane, WorkerLane
from .progress import Progress
from .row import Row
from .subject import Subject, environment
from .turns import Pace, Turns
from .worker import Unavailable, reason

# Fewer rounds would leave the quartiles to chance.
FEWEST_ROUNDS = 10
# Share of a group's time that opening its subjects takes, for the time left.
OPENING = 0.2


@dataclass(frozen=True)
class Setting:
    """What lanes are opened with. `folder` is empty and theirs; `redis.port` is 0 where there is no
    Redis here."""

    folder: Path
    redis: redis_server.Redis
    quick: bool


Open = Callable[[Subject, "Group", Setting], Lane]


def open_worker(subject: Subject, group: Group, setting: Setting) -> Lane:
    """The usual way: a process that answers lines of JSON. It is told the workload and the group's
    options, a folder of its own and the port of a Redis."""
    folder = setting.folder / subject.name
    folder.mkdir(parents=True)
    return WorkerLane(
        subject.command,
        group.environment,
        workload=group.workload,
        directory=str(folder),
        redis_port=setting.redis.port,
        **group.options,
    )


@dataclass(frozen=True)
class Group:
    """Subjects that take turns under one workload, open at the same time."""

    workload: str
    subjects: Sequence[Subject]
    pace: Pace
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=environment)
    open: Open = open_worker
    # By subject: those of one family have their turns one right after the other.
    family: Callable[[str], str] = lambda subject: ""
    # More rows, of those that were measured.
    derive: Callable[[Sequence[Row]], Iterable[Row]] = lambda rows: ()
    # About how many operations a subject has, to estimate the time left.
    operations: int = 4

    @property
    def seconds(self) -> float:
        rounds = self.pace.rounds + self.pace.warm_up
        return len(self.subjects) * self.operations * rounds * self.pace.seconds

    def only(self, names: Sequence[str]) -> Group:
        return replace(self, subjects=[one for one in self.subjects if one.name in names])


@dataclass(frozen=True)
class Bench:
    """`groups` is called with True for a subset that takes under a minute. `baseline` is the
    subject that others are compared with where none of ours was measured."""

    name: str
    title: str
    baseline: str
    groups: Callable[[bool], Sequence[Group]]
    # Sentences about this run of all of it, for the machine's line.
    notes: Sequence[str] = ()
    redis: bool = False
    # The server has a processor to itself, as if it were another machine.
    redis_apart: bool = False


def main(bench: Bench, arguments: Sequence[str] | None = None) -> None:
    """`make bench-<name>` calls it: measures, prints a Markdown report, writes the results. Exits
    with 1 where a row of ours is missing."""
    options = _parser(bench).parse_args(arguments)
    groups = [group for group in bench.groups(options.quick) if _asked(group, options)]
    if options.subjects:
        groups = [group.only(options.subjects) for group in groups]
    if options.rounds:
        if options.rounds < FEWEST_ROUNDS:
            sys.exit(f"{options.rounds} rounds are too few: at least {FEWEST_ROUNDS}")
        groups = [replace(g, pace=replace(g.pace, rounds=options.rounds)) for g in groups]
    if not any(group.subjects for group in groups):
        sys.exit("nothing to measure: no such workload or subject")
    started, before = time.monotonic(), machine.load()
    with tempfile.TemporaryDirectory(prefix="polycache-bench-", dir=options.directory) as name:
        folder = Path(name)
        with _redis(bench, folder) as redis:
            rows, versions = measure(groups, folder, redis, options.quick)
        about = machine.describe(folder, versions)
    about |= {
        "plan": "quick" if options.quick else "full",
        "seconds": round(time.monotonic() - started),
        "load_before": before,
        "load_after": machine.load(),
    }
    if bench.notes:
        about["notes"] = " ".join(bench.notes)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    options.results.write_text(results.json_lines(bench.name, rows, about))
    sys.stdout.write(report.markdown(bench.title, bench.baseline, rows, about, bench.name))
    ours.require(rows)


def measure(
    groups: Sequence[Group], folder: Path, redis: redis_server.Redis, quick: bool = False
) -> tuple[list[Row], dict[str, str]]:
    """The rows of all groups, one group after the other, and the versions of what was measured."""
    rows: list[Row] = []
    versions: dict[str, str] = {}
    progress = Progress(sum(group.seconds for group in groups))
    for number, group in enumerate(groups):
        setting = Setting(folder / f"group-{number}", redis, quick)
        setting.folder.mkdir()
        redis.clear()
        step = progress.of(group.seconds)
        missing, lanes = _open_all(group, setting, step)
        try:
            measured = Turns(group.workload, lanes, group.pace, group.family).take(
                lambda share, what, step=step: step(share * (1 - OPENING), what)  # type: ignore[misc]
            )
            for lane in lanes:
                versions |= lane.versions
        finally:
            for lane in lanes:
                lane.close()
        rows += [*measured, *group.derive(measured), *missing]
    progress.end()
    return rows, versions


def _open_all(
    group: Group, setting: Setting, step: Callable[[float, str], None]
) -> tuple[list[Row], list[Lane]]:
    missing: list[Row] = []
    lanes: list[Lane] = []
    try:
        for subject in group.subjects:
            why = subject.absent
            if not why:
                try:
                    lanes.append(group.open(subject, group, setting))
                except Unavailable as error:
                    why = reason(error)
            if why:
                missing.append(Row(group.workload, subject.name, "-", failure=why))
            step(OPENING / len(group.subjects), f"{group.workload}: {subject.name}, opened")
    except BaseException:
        for lane in lanes:
            lane.close()
        raise
    return missing, lanes


@contextmanager
def _redis(bench: Bench, folder: Path) -> Iterator[redis_server.Redis]:
    if not bench.redis:
        yield redis_server.Redis(0)
        return
    with redis_server.running(folder / "redis", bench.redis_apart) as redis:
        yield redis


def _asked(group: Group, options: argparse.Namespace) -> bool:
    return not options.workloads or any(part in group.workload for part in options.workloads)


def _parser(bench: Bench) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"make bench-{bench.name} ARGS=...", description=bench.title
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        default=os.environ.get("QUICK") == "1",
        help="a subset in under a minute; the same as QUICK=1",
    )
    parser.add_argument("--subjects", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--workloads", nargs="+", metavar="TEXT", help="only with this in the name")
    parser.add_argument("--rounds", type=int, help=f"of each row, at least {FEWEST_ROUNDS}")
    parser.add_argument("--directory", type=Path, help="where stores lie (default: TMPDIR)")
    parser.add_argument("--results", type=Path, default=results.path(bench.name))
    return parser
