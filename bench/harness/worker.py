"""A subject's process, spoken to in lines of JSON."""

from __future__ import annotations

import json
import re
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

# Seconds that a subject may take to end after it was told to, and to answer anything else.
GRACE = 10
PATIENCE = 300


class Unavailable(Exception):
    """The subject cannot be measured; says why."""


def reason(error: Unavailable) -> str:
    """The error in a table's cell."""
    return " ".join(str(error).split())[:200].replace("|", "/")


class Worker:
    """Owns the process; ends it by its own handle when it does not go by itself."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115, closed by close()
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.complaints,
                text=True,
                env=dict(environment),
            )
        except OSError as error:
            raise Unavailable(str(error)) from error

    def send(self, **request: object) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Unavailable(self._last_words()) from error

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.process.kill()
            raise Unavailable(f"it did not answer for {PATIENCE} s")
        line = self.process.stdout.readline()
        if not line:
            raise Unavailable(self._last_words())
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise Unavailable(reply["error"])
        return reply

    def ask(self, **request: object) -> dict[str, Any]:
        self.send(**request)
        return self.receive()

    def close(self) -> None:
        """Lets the subject close its store, then ends its process."""
        with suppress(Unavailable, ValueError):
            self.ask(command="close")
        assert self.process.stdin and self.process.stdout
        self.process.stdout.close()
        with suppress(OSError):  # It is gone already, with a line still on its way.
            self.process.stdin.close()
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.complaints.close()

    def _last_words(self) -> str:
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return "it closed its output and went on"
        self.complaints.seek(0)
        lines = [line.strip() for line in self.complaints if line.strip()]
        # Languages differ in which line has an uncaught error's message.
        said = [line for line in lines if re.search(r"^\w*Error\b|\(\w*Error\)", line)]
        last = (said or lines or [f"it ended with code {self.process.returncode}"])[-1]
        # Ruby puts the place before the message: FILE:LINE:in `METHOD':
        return re.sub(r"^.*:\d+:in [`'][^']*': ", "", last)
