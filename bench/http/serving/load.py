"""A round of load from wrk: 50 connections from one thread, each of which sends its next request
when it has its answer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from harness.lane import Figure
from harness.row import MILLISECONDS, REQUESTS_PER_SECOND
from harness.worker import Unavailable

REPORT = Path(__file__).with_name("report.lua")
CONNECTIONS = 50
# The longest that a round may take, in seconds.
PATIENCE = 120


@dataclass(frozen=True)
class Load:
    """What a round yielded. Latencies are in microseconds, by percent."""

    requests: int
    microseconds: int
    bytes: int
    failed: int
    latency: dict[str, int]

    def figures(self, smallest: int) -> list[Figure]:
        """Raises Unavailable where an answer was an error, or shorter than `smallest` bytes."""
        if self.failed:
            raise Unavailable(f"{self.failed} of {self.requests} requests failed under load")
        if self.bytes < self.requests * smallest:
            raise Unavailable(f"{self.requests} answers under load had only {self.bytes} bytes")
        rate = Figure("requests", REQUESTS_PER_SECOND, self.requests / self.microseconds * 1e6)
        return [rate] + [
            Figure(f"latency {percent}%", MILLISECONDS, value / 1e3)
            for percent, value in self.latency.items()
        ]


def for_seconds(url: str, seconds: float) -> Load:
    """Where nothing was answered in that time, the machine was busy with something else: once more,
    for longer."""
    for times in (1, 5, 25):
        with _running(url) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds * times)
            found = _end(process)
        if found.requests:
            return found
    raise Unavailable("no request was answered")


def of_requests(url: str, requests: int) -> Load:
    """Exactly so many requests."""
    with _running(url, REQUESTS=str(requests)) as process:
        for line in _output(process):
            if line == "answered\n":
                break
        found = _end(process)
    if found.requests != requests:
        raise Unavailable(f"{found.requests} of {requests} requests were answered")
    return found


def version() -> str:
    done = subprocess.run([_program(), "--version"], capture_output=True, text=True)
    return read_version(done.stdout)


def read_version(text: str) -> str:
    """The line is `wrk debian/4.1.0-3+b2 [epoll] Copyright ...`."""
    words = text.split()
    return words[1].removeprefix("debian/") if len(words) > 1 else "unknown"


@contextmanager
def _running(url: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    command = [_program(), "--threads", "1", "--connections", str(CONNECTIONS)]
    command += ["--duration", f"{PATIENCE}s", "--timeout", f"{PATIENCE}s"]
    process = subprocess.Popen(
        [*command, "--script", str(REPORT), url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        _output(process).close()


def _end(process: subprocess.Popen[str]) -> Load:
    """wrk knows only whole seconds, so it sleeps for long and is interrupted. It may not have
    begun to sleep, so this says so until it hears."""
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
    return parse(_output(process).read())


def _output(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout
    return process.stdout


def parse(printed: str) -> Load:
    """wrk prints a report of its own before ours."""
    lines = printed.splitlines()
    for line in reversed(lines):
        if line.startswith("{"):
            found: dict[str, Any] = json.loads(line)
            return Load(**found)
    raise Unavailable(f"wrk: {lines[-1] if lines else 'it printed nothing'}")


def _program() -> str:
    found = shutil.which("wrk")
    if found is None:
        raise Unavailable("wrk is not here (apt install wrk)")
    return found
