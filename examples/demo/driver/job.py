"""The main job: all workers ask for all records at once, and one of them is killed half-way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import loads
from .worker import PATIENCE, Answer, Worker, WorkerFailed, wait

Progress = Callable[[dict[str, int], "Kill | None"], None]


@dataclass(frozen=True)
class Kill:
    worker: Worker
    asked: int
    """Records that it had asked for."""
    held: str | None
    """The record that it was loading at that instant, whose lease it held."""
    by: int
    """The signal that ended it."""


@dataclass
class Job:
    kill: Kill | None = None
    seconds: float = 0.0
    done: dict[str, Answer] = field(default_factory=dict)
    """What each worker that came through says of it, by name."""


def run(
    workers: list[Worker], log: Path, records: int, victim: Worker | None, progress: Progress
) -> Job:
    job = Job()
    asked = {worker.name: 0 for worker in workers}
    running = list(workers)
    started = time.monotonic()
    for worker in running:
        worker.send("ask")
    for answers in wait(running, started + PATIENCE + records / 10):
        for worker, answer in answers:
            if "asked" in answer:
                asked[worker.name] = answer["asked"]
            else:
                job.done[worker.name] = answer
                asked[worker.name] = records
                running.remove(worker)
        if victim in running and job.kill is None and 2 * asked[victim.name] >= records:
            job.kill = try_to_kill(victim, log, asked[victim.name], records)
            if job.kill:
                running.remove(victim)
        progress(asked, job.kill)
    if running:
        names = " ".join(worker.name for worker in running)
        raise WorkerFailed(f"still at work after {time.monotonic() - started:.0f} s: {names}")
    job.seconds = time.monotonic() - started
    return job


def try_to_kill(victim: Worker, log: Path, asked: int, records: int) -> Kill | None:
    """Kills the worker while it loads, which is where a death could do harm.

    A stopped process is looked at in peace: when it is not loading it goes on, and it is tried
    again. Past three quarters of the records it is killed wherever it stands.
    """
    if not victim.stop():
        raise victim.failed("ended before it was killed")
    load = loads.read(log).under_way(victim.pid)
    if load is None and 4 * asked < 3 * records:
        victim.go_on()
        return None
    return Kill(victim, asked, load.key if load else None, victim.kill())
