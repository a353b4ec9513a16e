"""A server in a process group of its own."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from harness.worker import Unavailable

# Seconds that a server may take to listen (Next may be building) and to go when it was told to.
PATIENCE, GRACE = 180, 5


@dataclass(frozen=True)
class Ready:
    """What a server says once it listens (lib/ready.mjs)."""

    port: int
    path: str
    reads: str
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"


class Server:
    """Listens after construction. Ends with everything that it started."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115, closed by close()
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=self.said,
                env=dict(environment),
                start_new_session=True,
            )
        except OSError as error:
            self.said.close()
            raise Unavailable(str(error)) from error
        try:
            self.ready = self._listen()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """The group outlives its leader if that crashed."""
        self._signal(signal.SIGTERM)
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._signal(signal.SIGKILL)
            self.process.wait()
            _output(self.process).close()
            self.said.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _listen(self) -> Ready:
        """Some frameworks greet on standard output before."""
        deadline = time.monotonic() + PATIENCE
        printed = b""
        descriptor = _output(self.process).fileno()
        while time.monotonic() < deadline:
            # A crashed server may leave a child that keeps its output open.
            ended = self.process.poll() is not None
            if select.select([descriptor], [], [], 0 if ended else 0.2)[0]:
                part = os.read(descriptor, 65536)
                ended = ended or not part
                printed += part
            for line in printed.splitlines(keepends=True):
                if line.startswith(b'{"port"') and line.endswith(b"\n"):
                    return Ready(**json.loads(line))
            if ended:
                raise Unavailable(self._last_words())
        raise Unavailable(f"it did not listen for {PATIENCE} s")

    def _last_words(self) -> str:
        self.said.seek(0)
        lines = [line.strip() for line in self.said if line.strip()]
        errors = [line for line in lines if "rror:" in line]
        return (errors or lines or ["it ended before it listened"])[0]


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout
    return process.stdout
