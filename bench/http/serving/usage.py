"""What a server and Redis used of the machine while they were under load."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.lane import Figure
from harness.redis_server import Redis
from harness.row import BYTES, MICROSECONDS

from . import stream

PROCESSES = Path("/proc")


@dataclass(frozen=True)
class Usage:
    """Processor time in seconds, since the start of each."""

    server: float
    redis: float

    def figures(self, before: Usage, requests: int) -> list[Figure]:
        """Of each request since then."""
        return [
            Figure("CPU", MICROSECONDS, (self.server - before.server) / requests * 1e6),
            Figure("CPU of Redis", MICROSECONDS, (self.redis - before.redis) / requests * 1e6),
        ]


def now(group: int, redis: Redis) -> Usage:
    """`group` is the server's process group."""
    return Usage(sum(map(_seconds, _members(group))), stream.processor_time(redis))


def memory(group: int) -> Figure:
    """Bytes that the group's processes have in memory; of what they share with others a part."""
    return Figure("memory", BYTES, sum(map(_bytes, _members(group))))


def _members(group: int) -> list[Path]:
    found = []
    for process in PROCESSES.glob("[0-9]*"):
        with suppress(OSError):
            # The name, in parentheses, may hold anything.
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[2]) == group:
                found.append(process)
    return found


def _seconds(process: Path) -> float:
    """Of all its threads, in nanoseconds; `stat` counts in hundredths of a second."""
    total = 0
    for thread in (process / "task").glob("*"):
        with suppress(OSError):
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def _bytes(process: Path) -> int:
    with suppress(OSError):
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
