"""What was measured: a subject doing one operation under one workload."""

from __future__ import annotations

from dataclasses import dataclass, field

from .spread import Spread, spread

NANOSECONDS = "ns per operation"
MICROSECONDS = "µs per operation"
MILLISECONDS = "ms"
SECONDS = "s"
BYTES = "bytes"
PER_SECOND = "operations per second"
REQUESTS_PER_SECOND = "requests per second"
HIT_RATIO = "hit ratio"
# Beside a limit (limits.py), round by round: the share of it that is reached, or how often it is
# taken.
OF_THE_LIMIT = "of the limit"
TIMES_THE_LIMIT = "times the limit"
# Each row has a limit of its own, so rows are not compared with one another.
BESIDE_A_LIMIT = {OF_THE_LIMIT, TIMES_THE_LIMIT}

# Of all other units less is better.
MORE_IS_BETTER = {PER_SECOND, REQUESTS_PER_SECOND, HIT_RATIO, OF_THE_LIMIT, "MiB per second"}

OURS = "polycache"


class Measured:
    """What every kind of row can say."""

    subject: str
    samples: list[float]
    failure: str

    @property
    def is_ours(self) -> bool:
        return is_ours(self.subject)

    @property
    def spread(self) -> Spread:
        return spread(self.samples)

    @property
    def measured(self) -> bool:
        return bool(self.samples) and not self.failure


@dataclass
class Row(Measured):
    """`failure` says why there is no figure, if so."""

    workload: str
    subject: str
    operation: str
    unit: str = ""
    samples: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: str = ""


def is_ours(subject: str) -> bool:
    return subject.startswith(OURS)


def more_is_better(unit: str) -> bool:
    return unit in MORE_IS_BETTER
