"""A worker process and the lines that are exchanged with it.

The driver writes a command a line; the worker answers with JSON objects, a line each. What the
worker says on stderr goes to a file beside the data, and is shown when the worker fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .languages import ROOT, Language

# Only a broken worker needs this long for an answer, in seconds.
PATIENCE = 120.0

Answer = dict[str, Any]


class WorkerFailed(Exception):
    """A worker ended, or did not answer."""


class Worker:
    def __init__(self, language: Language, name: str, arguments: list[str], folder: Path) -> None:
        self.language = language
        self.name = name
        self._errors = folder / f"{name}.stderr"
        self._buffer = b""
        with self._errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [*language.command, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=environment(),
            )
        assert self.process.stdin and self.process.stdout
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        os.set_blocking(self._stdout.fileno(), False)

    @property
    def pid(self) -> int:
        return self.process.pid

    def fileno(self) -> int:
        """Makes a worker something that `selectors` can wait for."""
        return self._stdout.fileno()

    def send(self, command: str) -> None:
        try:
            self._stdin.write(f"{command}\n".encode())
            self._stdin.flush()
        except BrokenPipeError as error:
            raise self.failed(f"ended before `{command}`") from error

    def call(self, command: str) -> Answer:
        """The one answer to a command."""
        self.send(command)
        return self.answer(command)

    def answer(self, command: str) -> Answer:
        deadline = time.monotonic() + PATIENCE
        for answers in wait([self], deadline):
            for _, answer in answers:
                return answer
        raise self.failed(f"has not answered `{command}` after {PATIENCE:.0f} s")

    def received(self) -> list[Answer]:
        """The answers that have come, without waiting. Raises when the worker has ended."""
        while True:
            try:
                more = os.read(self.fileno(), 1 << 16)
            except BlockingIOError:
                break
            if not more:
                raise self.failed("ended unasked")
            self._buffer += more
        *lines, self._buffer = self._buffer.split(b"\n")
        try:
            return [json.loads(line) for line in lines]
        except json.JSONDecodeError as error:
            raise self.failed(f"answered what is not JSON: {lines!r}") from error

    def stop(self) -> bool:
        """Stops the process where it stands; false when it has ended."""
        os.kill(self.pid, signal.SIGSTOP)
        # Without WNOWAIT, which leaves the end of the process to Popen, it would get lost.
        options = os.WSTOPPED | os.WEXITED | os.WNOWAIT
        status = os.waitid(os.P_PID, self.pid, options)
        return status is not None and status.si_code == os.CLD_STOPPED

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> int:
        """SIGKILL; returns the signal that ended it: another one when it was dead before."""
        self.process.kill()
        return -self.process.wait()

    def end(self) -> None:
        """Ends it the friendly way: its commands are over."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise self.failed("does not end") from None
        if self.process.returncode:
            raise self.failed(f"ended with {self.process.returncode}")

    def failed(self, what: str) -> WorkerFailed:
        said = self._errors.read_text(errors="replace").strip()
        return WorkerFailed(f"the {self.name} worker {what}" + (f":\n{said}" if said else ""))


def wait(workers: list[Worker], deadline: float) -> Iterator[list[tuple[Worker, Answer]]]:
    """The answers of the workers as they come, until the deadline; an empty list now and then.

    `workers` may lose members meanwhile.
    """
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker, selectors.EVENT_READ, worker)
        while workers and time.monotonic() < deadline:
            for key in list(selector.get_map().values()):
                if key.data not in workers:
                    selector.unregister(key.fileobj)
            ready = selector.select(0.002)
            yield [
                (key.data, answer)
                for key, _ in ready
                if key.data in workers
                for answer in key.data.received()
            ]


def environment() -> dict[str, str]:
    """As in the Makefile: the packages are used from their sources."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python" / "src"),
        "RUBYLIB": str(ROOT / "ruby" / "lib"),
    }
