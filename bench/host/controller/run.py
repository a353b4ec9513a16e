"""Carries a plan out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.progress import Progress
from harness.redis_server import Redis

from . import growth, subjects
from . import tails as tails_of
from .plan import Plan
from .races import LANGUAGE as RACING_LANGUAGE
from .races import race
from .rounds import LISTED, Group
from .row import Row
from .setting import Pace, Setting
from .subjects import Subject
from .tails import tails
from .workload import Workload


@dataclass(frozen=True)
class Job:
    """`weight` is its time beside the other jobs', roughly."""

    workload: Workload
    pace: Pace
    weight: float
    run: Callable[[Setting], list[Row]]


class Bench:
    """Collects `rows`, and the `versions` of what was measured."""

    def __init__(self, plan: Plan, folder: Path, redis: Redis) -> None:
        self.plan = plan
        self.folder = folder
        self.redis = redis
        self.rows: list[Row] = []
        self.versions: dict[str, str] = {}

    def run(self) -> None:
        jobs = list(self._jobs())
        progress = Progress(sum(job.weight for job in jobs))
        for number, job in enumerate(jobs):
            data = self.folder / job.workload.name.replace(" ", "-").replace(",", "")
            if not data.exists():
                job.workload.write(data)
            stores = self.folder / f"stores-{number}"
            step = progress.of(job.weight)
            self.rows += job.run(Setting(data, stores, self.redis, job.pace, step))
        progress.end()

    def _jobs(self) -> Iterator[Job]:
        for language, workloads in self.plan.workloads.items():
            for workload in workloads:
                yield self._turns(language, workload, subjects.find(language))
        for name, workloads in self.plan.races.items():
            subject = next(s for s in subjects.find(RACING_LANGUAGE) if s.name == name)
            for workload in workloads:
                yield Job(
                    workload,
                    self.plan.race_pace,
                    12 * self.plan.race_pace.rounds * self.plan.race_pace.seconds,
                    lambda setting, s=subject, w=workload: race(s, w, setting),  # type: ignore[misc]
                )

        for workload in self.plan.tails:
            found = [s for s in subjects.find(RACING_LANGUAGE) if s.name in tails_of.SUBJECTS]
            yield Job(
                workload,
                self.plan.pace,
                3,
                lambda setting, s=found, w=workload: tails(s, w, setting),  # type: ignore[misc]
            )
        for workload in self.plan.growing:
            # A listing has Redis beside it, which is no store in a directory.
            names = (*growth.SUBJECTS, "redis") if workload.keys <= LISTED else growth.SUBJECTS
            found = [s for s in subjects.find(RACING_LANGUAGE) if s.name in names]
            yield self._turns(RACING_LANGUAGE, workload, found)

    def _turns(self, language: str, workload: Workload, found: list[Subject]) -> Job:

        def run(setting: Setting) -> list[Row]:
            group = Group(language, workload, setting)
            rows = group.measure(found)
            for opened in group.opened:
                self.versions |= opened.versions
            return rows

        # Some four operations a subject.
        weight = 4 * len(found) * self.plan.pace.rounds * self.plan.pace.seconds
        return Job(workload, self.plan.pace, weight, run)
