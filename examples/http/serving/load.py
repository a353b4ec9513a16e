"""The requests a second of a server, by load.ts."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass

from .program import FOLDER

CONNECTIONS = 32
# Seconds that load.ts may take to start and to end.
PATIENCE = 60


class LoadFailed(Exception):
    """An answer was no 200, or there was none; it says which."""


@dataclass(frozen=True)
class Load:
    requests: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def put(url: str, seconds: float) -> Load:
    done = subprocess.run(
        ["node", str(FOLDER / "load.ts"), url, str(seconds), str(CONNECTIONS)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds + PATIENCE,
    )
    if done.returncode:
        raise LoadFailed(done.stderr.strip())
    return Load(**json.loads(done.stdout))
