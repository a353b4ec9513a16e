"""A process with one client or cache, which is asked by lines of JSON.

`{"command": "open", "url": ..., "directory": ...}` is answered by `{"versions": ..., "loads":
whether it has a get-or-load}`, and `{"command": "run", "operation": "get", "key": ..., "times": 1}`
by `{"ms": of the last call, "total_ms": ..., "outcome": ...}`.

Operations are `get`, `set` and `load`; the outcome is `value`, `miss`, `stored`, `loaded`, `found`
or `error: NAME: text`.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Seconds for a process to start, and to open its client.
PATIENCE = 60.0


class SubjectFailed(Exception):
    """It ended, or does not open."""


class Process:
    """One process; it is asked one thing at a time."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._answers: queue.Queue[bytes] = queue.Queue()
        self._sent = 0.0
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, **request: Any) -> None:
        assert self._process.stdin
        self._sent = time.monotonic()
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failed() from None

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """The answer, if it comes within so many seconds of the request."""
        left = self._sent + seconds - time.monotonic()
        try:
            line = self._answers.get(timeout=max(0.0, left))
        except queue.Empty:
            return None
        if not line:
            self._answers.put(line)
            raise self._failed()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def call(self, **request: Any) -> dict[str, Any]:
        self.send(**request)
        answer = self.answer(PATIENCE)
        if answer is None:
            raise SubjectFailed(f"no answer within {PATIENCE:.0f} s")
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(b"")

    def _failed(self) -> SubjectFailed:
        said = self._log.read_text(errors="replace").strip().splitlines()
        return SubjectFailed(f"the process ended{': ' + said[-1][:160] if said else ''}")
