"""What a whole run measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class Plan:
    """Workloads by language; in `races`, by Rust subject, two processes run beside one."""

    name: str
    workloads: dict[str, tuple[Workload, ...]]
    races: dict[str, tuple[Workload, ...]]
    pace: Pace
    race_pace: Pace

    def only(self, languages: Sequence[str]) -> Plan:
        chosen = {name: loads for name, loads in self.workloads.items() if name in languages}
        return replace(self, workloads=chosen, races=self.races if "rust" in languages else {})

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
    pace=Pace(rounds=15, seconds=0.1),
    race_pace=Pace(rounds=15, seconds=0.2),
)
QUICK = Plan(
    name="quick",
    workloads=dict.fromkeys(LANGUAGES, (SMALL,)) | {"rust": ALL},
    races={"polycache-store": ALL},
    pace=Pace(rounds=10, seconds=0.01),
    race_pace=Pace(rounds=10, seconds=0.02),
)
