"""A lane whose rounds are counted in instructions by valgrind, where times are too close to call.

An instruction is not a nanosecond: a miss of the processor's cache is not seen here. But other work
of the machine is not seen either, so a few rounds are enough.

A subject marks what is to be counted by a call of `clock_getres`, which nothing else needs: before
its operations, after them, and after twice as many. The difference is of the operations alone,
without what a loop, a mark or the first round costs. The round's value is their number.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .bench import Group, Setting
from .lane import Figure, Lane, WorkerLane
from .subject import Subject
from .worker import Unavailable

# As valgrind names it, with the version that glibc gives it.
MARK = "clock_getres@*"
UNIT = "instructions per operation"


def open_counted(subject: Subject, group: Group, setting: Setting) -> Lane:
    """As `open_worker`, under valgrind."""
    folder = setting.folder / subject.name
    folder.mkdir(parents=True)
    return CountedLane(
        subject.command,
        group.environment,
        folder,
        workload=group.workload,
        directory=str(folder),
        redis_port=setting.redis.port,
        **group.options,
    )


class CountedLane(WorkerLane):
    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path, **request: Any
    ) -> None:
        self.dumps = folder / "callgrind"
        self.dumps.mkdir()
        super().__init__([*valgrind(self.dumps), *command], environment, **request)

    def run(self, operation: str, seconds: float) -> list[Figure]:
        for old in self.dumps.iterdir():
            old.unlink()
        figures = super().run(operation, seconds)
        once, twice = counted(self.dumps)
        return [Figure(one.operation, UNIT, (twice - once) / one.value) for one in figures]


def valgrind(dumps: Path) -> list[str]:
    """The words before a command whose dumps go to the folder."""
    found = shutil.which("valgrind")
    if not found:
        raise Unavailable("there is no valgrind here")
    return [
        found,
        "--tool=callgrind",
        f"--dump-before={MARK}",
        f"--callgrind-out-file={dumps}/dump",
    ]


def counted(dumps: Path) -> tuple[int, int]:
    """Instructions between the last three marks."""
    numbered = sorted(dumps.glob("dump.*"), key=lambda path: int(path.suffix[1:]))
    if len(numbered) < 3:
        raise Unavailable(f"valgrind saw {len(numbered)} marks, not 3")
    once, twice = (total(path.read_text()) for path in numbered[-2:])
    return once, twice


def total(dump: str) -> int:
    """Of callgrind's file of a dump."""
    found = re.search(r"^totals: (\d+)", dump, re.M)
    if not found:
        raise Unavailable("valgrind's dump has no total")
    return int(found[1])
