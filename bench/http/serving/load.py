"""A round of load from wrk: 50 connections from one thread, each of which sends its next request
when it has its answer."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.lane import Figure
from harness.row import MILLISECONDS, REQUESTS_PER_SECOND
from harness.worker import Unavailable

REPORT = Path(__file__).with_name("report.lua")
CONNECTIONS = 50
# The longest that an answer may take, and that 200 requests may take, in seconds.
PATIENCE = 60


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
        if not self.requests:
            raise Unavailable("no request was answered")
        if self.bytes < self.requests * smallest:
            raise Unavailable(f"{self.requests} answers under load had only {self.bytes} bytes")
        rate = Figure("requests", REQUESTS_PER_SECOND, self.requests / self.microseconds * 1e6)
        return [rate] + [
            Figure(f"latency {percent}%", MILLISECONDS, value / 1e3)
            for percent, value in self.latency.items()
        ]


def for_seconds(url: str, seconds: float) -> Load:
    """wrk knows whole seconds only, so it is told to end."""
    return _run(url, seconds, {})


def of_requests(url: str, requests: int) -> Load:
    """Exactly so many requests; the script ends wrk."""
    return _run(url, PATIENCE, {"REQUESTS": str(requests)})


def version() -> str:
    done = subprocess.run([_program(), "--version"], capture_output=True, text=True)
    return read_version(done.stdout)


def read_version(text: str) -> str:
    """The line is `wrk debian/4.1.0-3+b2 [epoll] Copyright ...`."""
    words = text.split()
    return words[1].removeprefix("debian/") if len(words) > 1 else "unknown"


def _run(url: str, seconds: float, environment: dict[str, str]) -> Load:
    command = [_program(), "--threads", "1", "--connections", str(CONNECTIONS)]
    command += ["--duration", f"{2 * PATIENCE}s", "--timeout", f"{PATIENCE}s"]
    process = subprocess.Popen(
        [*command, "--script", str(REPORT), url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
    )
    try:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise Unavailable("wrk did not end") from error
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return parse(printed)


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
