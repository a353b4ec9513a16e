"""The simulator's process (rust/): a request in, an outcome a line out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = TARGET / "bench-hit-ratio" / "release" / "hit-ratio"


@dataclass(frozen=True)
class Outcome:
    """What one policy made of one trace. `error` says why there is nothing, where there is nothing;
    `share` is the part of the whole run that this was."""

    workload: str
    policy: str
    capacity: int
    round: int
    requests: int
    hits: int
    notes: list[str]
    error: str
    share: float

    @property
    def hit_ratio(self) -> float:
        return self.hits / self.requests


def simulate(**request: Any) -> Iterator[Outcome]:
    """`request` is that of rust/src/main.rs. Raises RuntimeError when the simulator fails."""
    with subprocess.Popen(
        [PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(request))
        process.stdin.close()
        for line in process.stdout:
            yield Outcome(**json.loads(line))
    if process.returncode:
        raise RuntimeError(f"the simulator ended with code {process.returncode}")
