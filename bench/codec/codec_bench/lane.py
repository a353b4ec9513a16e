"""A subject of the Rust program under one workload: a round is one start of the program, which
measures all of the subject's operations."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.lane import Figure
from harness.row import BYTES, NANOSECONDS, PER_SECOND
from harness.worker import Unavailable

from .estimates import medians
from .program import Program

# Share of a round in which criterion warms up.
WARM_UP = 0.2
# Fewest that criterion takes.
SAMPLES = 10
# For criterion's confidence intervals, which are not used here: the rounds have their own.
RESAMPLES = 100


@dataclass(frozen=True)
class Facts:
    """What the program says of a subject: its operations with what one counts for, where the unit
    is operations per second, otherwise 0; and the bytes that it wrote."""

    times: dict[str, int]
    sizes: dict[str, int]
    notes: list[str]
    versions: dict[str, str]

    def figures(self, nanoseconds: Mapping[str, float]) -> list[Figure]:
        figures = []
        for operation, at_once in self.times.items():
            if operation not in nanoseconds:
                raise Unavailable(f"criterion has no figure of {operation!r}")
            value = nanoseconds[operation]
            if at_once:
                figures.append(Figure(operation, PER_SECOND, at_once * 1e9 / value))
            else:
                figures.append(Figure(operation, NANOSECONDS, value))
        return figures + [Figure(name, BYTES, size) for name, size in self.sizes.items()]


def facts(said: Mapping[str, Any]) -> Facts:
    if said["error"]:
        raise Unavailable(said["error"])
    return Facts(
        dict(said["times"]), dict(said["sizes"]), list(said["notes"]), dict(said["versions"])
    )


def options(seconds: float) -> list[str]:
    """Of criterion, for a benchmark of about that long."""
    chosen = {
        "sample-size": SAMPLES,
        "nresamples": RESAMPLES,
        "warm-up-time": seconds * WARM_UP,
        "measurement-time": seconds * (1 - WARM_UP),
    }
    return ["--bench", "--noplot", "--quiet", *(f"--{name}={chosen[name]}" for name in chosen)]


class CriterionLane:
    """Opening it has the subject prove its work, as does every round."""

    operations: Sequence[str] = ("all",)

    def __init__(self, program: Program, workload: str, subject: str, folder: Path) -> None:
        self.program = program
        self.subject = subject
        self.id = f"{workload}/{subject}"
        self.folder = folder
        self.facts = folder / "facts.json"
        folder.mkdir(parents=True)
        self.proven = self._start((), {"CODEC_PROVE": "1"})
        self.notes: Sequence[str] = self.proven.notes
        self.versions: Mapping[str, str] = self.proven.versions

    def run(self, operation: str, seconds: float) -> list[Figure]:
        home = self.folder / "criterion"
        try:
            said = self._start(options(seconds), {"CRITERION_HOME": str(home)})
            return said.figures(medians(home))
        finally:
            # Or criterion compares with the round before.
            shutil.rmtree(home, ignore_errors=True)

    def close(self) -> None:
        """No process lives between two rounds."""

    def environment(self) -> dict[str, str]:
        """What the program must see to measure this subject alone."""
        return self.program.environment() | {
            "CODEC_SUBJECT": self.id,
            "CODEC_FACTS": str(self.facts),
            # The host tier's directory lies where the stores of other benchmarks do.
            "TMPDIR": str(self.folder),
        }

    def _start(self, arguments: Sequence[str], environment: Mapping[str, str]) -> Facts:
        self.facts.unlink(missing_ok=True)
        self.program.run(arguments, {**self.environment(), **environment})
        if not self.facts.exists():
            raise Unavailable("the program has no such subject")
        return facts(json.loads(self.facts.read_text()))
