"""The append-only file in which every loader says that it begins and that it ends.

One line a `write(2)`, so the lines of four processes never mix: `begin <language> <pid> <key>`
before the work of a load, `end <language> <pid> <key>` behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Load:
    language: str
    pid: int
    key: str


@dataclass(frozen=True)
class Loads:
    begun: list[Load]
    ended: list[Load]

    def under_way(self, pid: int) -> Load | None:
        """What that worker is loading: it loads one record at a time."""
        begun = [load for load in self.begun if load.pid == pid]
        ended = sum(1 for load in self.ended if load.pid == pid)
        return begun[-1] if len(begun) > ended else None

    def last_of(self, pid: int) -> Load | None:
        return next((load for load in reversed(self.begun) if load.pid == pid), None)

    def count(self, pid: int) -> int:
        return sum(1 for load in self.begun if load.pid == pid)


@dataclass(frozen=True)
class Verdict:
    """Whether each record was loaded once; the kill may have cost one load more."""

    once: int
    wanted: int
    never: list[str]
    too_often: list[str]
    foreign: list[str]
    again: Load | None
    """The load that was begun anew, because the worker that did it first was killed."""

    @property
    def good(self) -> bool:
        return self.once == self.wanted and not self.foreign


def read(file: Path) -> Loads:
    return parse(file.read_text(encoding="utf-8").splitlines())


def parse(lines: Iterable[str]) -> Loads:
    begun: list[Load] = []
    ended: list[Load] = []
    for line in lines:
        event, language, pid, key = line.split(" ", 3)
        {"begin": begun, "end": ended}[event].append(Load(language, int(pid), key))
    return Loads(begun, ended)


def judge(loads: Loads, keys: Collection[str], killed: int | None = None) -> Verdict:
    """Counts the loads of each record. `killed` is the process that was killed: what it began last
    may have been lost with it, and then another worker begins it again, once."""
    times = Counter(load.key for load in loads.begun)
    lost = loads.last_of(killed) if killed is not None else None
    again = None
    if lost is not None and times[lost.key] == 2:
        later = [load for load in loads.begun if load.key == lost.key and load.pid != killed]
        if later:
            again = later[0]
            times[lost.key] = 1
    return Verdict(
        once=sum(1 for key in keys if times[key] == 1),
        wanted=len(keys),
        never=[key for key in keys if times[key] == 0],
        too_often=[key for key in keys if times[key] > 1],
        foreign=sorted(set(times) - set(keys)),
        again=again,
    )
