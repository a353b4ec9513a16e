"""What every Python subject of a benchmark shares: it answers the controller's lines of JSON
(bench/README.md, "A subject") on behalf of a `Subject`."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

# A function of the round's seconds that returns a figure.
Run = Callable[[float], float]


class NotOffered(Exception):
    """What the subject lacks by design: its row says why, and is not a failure."""


class Subject(ABC):
    """What is measured, opened by its constructor from the request's options. Ours begin with
    `polycache`."""

    name: str
    # Names and versions of what is measured; the commit names ours.
    versions: Mapping[str, str] = {}
    # Said in each row: durability, isolation and the like.
    notes: tuple[str, ...] = ()

    @abstractmethod
    def __init__(self, **options: Any) -> None:
        """Opens what is measured."""

    @abstractmethod
    def operations(self) -> Mapping[str, tuple[str, Run]]:
        """By name: the unit of its figures, and what is run."""

    @abstractmethod
    def check(self) -> None:
        """Raises unless what it reads is what it wrote; runs before anything is timed."""

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Gives everything back."""


def serve(kind: Callable[..., Subject]) -> None:
    """The main function of a subject's file."""
    subject: Subject | None = None
    operations: Mapping[str, tuple[str, Run]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        command = request.pop("command")
        reply: dict[str, Any] = {}
        try:
            if command == "open":
                subject = kind(**request)
                operations = subject.operations()
                reply = {
                    "subject": subject.name,
                    "versions": dict(subject.versions),
                    "notes": subject.notes,
                    "operations": {name: unit for name, (unit, _) in operations.items()},
                }
            elif command == "run":
                _, run = operations[request["operation"]]
                reply = {"value": run(request["seconds"])}
            elif subject and command == "check":
                subject.check()
            elif subject and command == "close":
                subject.close()
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
        if command == "close":
            break
