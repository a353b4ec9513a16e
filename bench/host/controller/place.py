"""Opening and filling a subject's store in a process of its own."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.worker import Unavailable, Worker

from . import subjects
from .setting import Setting
from .subjects import Subject
from .workload import Workload

# An unbounded store gets its keys twice, so that it overwrites from then on.
UNBOUNDED_PASSES = 2


@dataclass
class Opened:
    """A worker whose store is filled and in its steady state. `operations` are their names with
    what their writes survive; `turns` is how often a bounded store has used its space over;
    `bytes` is what its directory takes on the disk."""

    worker: Worker
    subject: str
    operations: dict[str, str]
    versions: dict[str, str]
    turns: float
    bytes: int = 0


def open_filled(
    subject: Subject, workload: Workload, setting: Setting, directory: Path, join: bool = False
) -> Opened:
    """`join` opens a store that another worker has filled."""
    if subject.name.startswith("redis") and not setting.redis.port:
        raise Unavailable("no redis-server here")
    worker = Worker(subject.command, subjects.environment())
    try:
        reply = worker.ask(
            command="open",
            directory=str(directory),
            limit=workload.limit,
            keys=workload.keys,
            redis_port=setting.redis.port,
            data=str(setting.data),
        )
        passes = workload.passes if reply["bounded"] else UNBOUNDED_PASSES
        if workload.room and not reply["bounded"]:
            passes = 1
        turns = worker.ask(command="fill", passes=0 if join else passes)["turns"]
        if reply["bounded"] and turns < 1 and not workload.room:
            raise Unavailable(f"its space was used {turns:.2f} times only: not in steady state")
    except Unavailable:
        worker.close()
        raise
    operations = {operation["name"]: operation["durability"] for operation in reply["operations"]}
    taken = bytes_on_disk(directory)
    return Opened(worker, reply["subject"], operations, dict(reply["versions"]), turns, taken)


def bytes_on_disk(directory: Path) -> int:
    """What the files of a store take, as `du` counts: holes take nothing."""
    return sum(file.stat().st_blocks * 512 for file in directory.rglob("*") if file.is_file())


def wipe(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
