"""What a whole run measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import growth
from .setting import Pace
from .subjects import LANGUAGES
from .workload import Workload

# Fewer rounds would leave the quartiles to chance.
FEWEST_ROUNDS = 10

# 10,000 keys of 100 B fit a core's own cache; the others, seed benchmark 3's, do not.
SMALL = Workload(size=100, keys=10_000)
ALL = (
    SMALL,
    Workload(size=100, keys=100_000),
    Workload(size=1_000, keys=10_000),
    Workload(size=10_000, keys=10_000),
)
# Few keys in a store with room for many: what a listing costs.
LISTING = growth.workload(100, 100)


@dataclass(frozen=True)
class Plan:
    """Workloads by language; in `races`, by Rust subject, two processes run beside one. `growing`
    workloads are of some Rust subjects, as are `tails`: each operation is timed by itself."""

    name: str
    workloads: dict[str, tuple[Workload, ...]]
    races: dict[str, tuple[Workload, ...]]
    growing: tuple[Workload, ...]
    tails: tuple[Workload, ...]
    pace: Pace
    race_pace: Pace

    def only(self, languages: Sequence[str]) -> Plan:
        chosen = {name: loads for name, loads in self.workloads.items() if name in languages}
        if "rust" in languages:
            return replace(self, workloads=chosen)
        return replace(self, workloads=chosen, races={}, growing=(), tails=())

    def of_workloads(self, names: Sequence[str]) -> Plan:
        """Only these, one operation after the other: no races, no growth, no percentiles."""
        chosen = {
            language: tuple(one for one in loads if one.name in names)
            for language, loads in self.workloads.items()
        }
        return replace(self, workloads=chosen, races={}, growing=(), tails=())

    def with_rounds(self, rounds: int) -> Plan:
        if rounds < FEWEST_ROUNDS:
            raise ValueError(f"{rounds} rounds are too few: at least {FEWEST_ROUNDS}")
        return replace(
            self,
            pace=replace(self.pace, rounds=rounds),
            race_pace=replace(self.race_pace, rounds=rounds),
        )

    def __str__(self) -> str:
        return f"{self.name}, {self.pace.rounds} rounds of about {self.pace.seconds:g} s"


FULL = Plan(
    name="full",
    workloads=dict.fromkeys(LANGUAGES, ALL),
    races={"polycache-store": ALL, "lmdb": (SMALL,)},
    growing=(
        LISTING,
        *(growth.workload(100, keys) for keys in (10_000, 100_000, 1_000_000, 10_000_000)),
        *(growth.workload(1_000, keys) for keys in (10_000, 100_000, 1_000_000)),
        *(growth.workload(10_000, keys) for keys in (10_000, 100_000)),
    ),
    tails=ALL,
    pace=Pace(rounds=15, seconds=0.1),
    race_pace=Pace(rounds=15, seconds=0.2),
)
QUICK = Plan(
    name="quick",
    workloads=dict.fromkeys(LANGUAGES, (SMALL,)) | {"rust": ALL},
    races={"polycache-store": ALL},
    growing=(growth.workload(100, 10_000), growth.workload(100, 100_000)),
    tails=(SMALL,),
    pace=Pace(rounds=10, seconds=0.01),
    race_pace=Pace(rounds=10, seconds=0.02),
)
