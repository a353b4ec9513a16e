"""The compiled benchmark program, bench/codec/rust/benches/codec.rs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.subject import ROOT
from harness.worker import Unavailable

RUST = Path(__file__).resolve().parent.parent / "rust"
# Seconds for one start of it.
PATIENCE = 120

BUILD = ["cargo", "bench", "--no-run", "--locked", "--quiet"]
BUILD += ["--message-format=json", "--manifest-path"]


@dataclass(frozen=True)
class Program:
    path: Path
    # A file of a stream's entries as JSON, where there is one.
    stream: Path | None = None

    def names(self) -> list[tuple[str, str]]:
        """Workload and subject of all that it can measure."""
        lines = self.run((), self.environment() | {"CODEC_LIST": "1"}).splitlines()
        return [parse(line) for line in lines if line]

    def environment(self) -> dict[str, str]:
        given = {"CODEC_STREAM": str(self.stream)} if self.stream else {}
        return {**os.environ, **given}

    def run(self, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
        """What it printed. Raises Unavailable when it fails."""
        try:
            done = subprocess.run(
                [str(self.path), *arguments],
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(str(error)) from error
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"]
            raise Unavailable(said[-1])
        return done.stdout


def parse(line: str) -> tuple[str, str]:
    """Workloads have no slash."""
    workload, _, subject = line.partition("/")
    return workload, subject


def compiled() -> Path:
    """Where setup.sh had cargo put it. Raises Unavailable when it does not compile."""
    complaint = ""
    # Two peers need a newer compiler (setup.sh).
    for features in (["--all-features"], []):
        done = subprocess.run(
            [*BUILD, str(RUST / "Cargo.toml"), *features],
            env=os.environ | {"CARGO_TARGET_DIR": str(_target())},
            capture_output=True,
            text=True,
        )
        if not done.returncode:
            return executable(done.stdout)
        complaint = (done.stderr.strip().splitlines() or ["cargo bench --no-run failed"])[-1]
    raise Unavailable(complaint)


def executable(messages: str) -> Path:
    """The bench target among cargo's messages."""
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("kind") == ["bench"] and message.get("executable"):
            return Path(message["executable"])
    raise Unavailable("cargo made no benchmark program")


def _target() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "bench-codec"
