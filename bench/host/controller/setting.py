"""What every measurement is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.redis_server import Redis


@dataclass(frozen=True)
class Pace:
    """How often everything is measured, and for how long each time."""

    rounds: int
    seconds: float


@dataclass(frozen=True)
class Setting:
    """`data` holds the workload's keys and values, `stores` is where the stores go. `step` is told
    which share of the measurement was just done, and in what."""

    data: Path
    stores: Path
    redis: Redis
    pace: Pace
    step: Callable[[float, str], None]
