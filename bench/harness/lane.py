"""A subject under one workload, open and ready to take its turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .row import NANOSECONDS
from .worker import Worker


@dataclass(frozen=True)
class Figure:
    """One value that a round yields."""

    operation: str
    unit: str
    value: float


class Lane(Protocol):
    """A subject that is open, has proved its work and can be measured."""

    subject: str
    operations: Sequence[str]
    versions: Mapping[str, str]

    @property
    def notes(self) -> Sequence[str]:
        """Said in every row: the durability class, whether values are isolated, and the like. A
        lane may have more to say after each round."""

    def run(self, operation: str, seconds: float) -> list[Figure]:
        """One round of about that long. Raises Unavailable."""

    def close(self) -> None:
        """Gives everything back."""


class WorkerLane:
    """A lane in a process that answers lines of JSON (bench/README.md, "A subject").

    Opening it has the subject prove its work: what it reads must be what it wrote.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], **request: Any
    ) -> None:
        self.worker = Worker(command, environment)
        try:
            reply = self.worker.ask(command="open", **request)
            self.worker.ask(command="check")
        except BaseException:
            self.worker.close()
            raise
        self.subject: str = reply["subject"]
        self.versions: Mapping[str, str] = dict(reply.get("versions", {}))
        self.notes: Sequence[str] = list(reply.get("notes", ()))
        self.units: dict[str, str] = dict(reply["operations"])
        self.operations: Sequence[str] = list(self.units)

    def run(self, operation: str, seconds: float) -> list[Figure]:
        reply = self.worker.ask(command="run", operation=operation, seconds=seconds)
        if "figures" in reply:
            return [Figure(**figure) for figure in reply["figures"]]
        return [Figure(operation, self.units[operation] or NANOSECONDS, reply["value"])]

    def close(self) -> None:
        self.worker.close()
