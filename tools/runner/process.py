"""Runs one command. Its output is passed on and kept; nothing that it started outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

OUT_OF_TIME = 124

# The leaders of what runs now, so that a run that is interrupted can end it.
_running: set[int] = set()
_interrupted = threading.Event()


@dataclass(frozen=True)
class Ended:
    """`code` is the exit code, or OUT_OF_TIME. `cpu` is what it and the children that it waited for
    took of the processors, in seconds."""

    code: int
    output: str
    cpu: float


def run(
    command: str, folder: Path, show: Callable[[str], None], timeout: float | None = None
) -> Ended:
    """`timeout` is in seconds."""
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    # The reader is a thread, because a server that a test forgot keeps the pipe open.
    reader = threading.Thread(target=_pass_on, args=(process.stdout, lines, show), daemon=True)
    reader.start()
    # Waited for by hand, because that tells what it took, too.
    cpu: list[float] = []
    waiter = threading.Thread(target=_wait, args=(process, cpu), daemon=True)
    _running.add(process.pid)
    if _interrupted.is_set():
        _kill_group(process.pid)
    waiter.start()
    waiter.join(timeout)
    code = OUT_OF_TIME if process.returncode is None else process.returncode
    if code != OUT_OF_TIME:
        reader.join(timeout=1)
    _kill_group(process.pid)
    waiter.join()
    _running.discard(process.pid)
    reader.join(timeout=10)
    return Ended(code, "".join(lines), cpu[0])


def kill_all() -> None:
    """Ends what other threads run, and what they begin from now on: Ctrl-C doesn't reach it, since
    each has a session of its own."""
    _interrupted.set()
    for leader in list(_running):
        _kill_group(leader)


def _wait(process: subprocess.Popen[bytes], cpu: list[float]) -> None:
    _, status, usage = os.wait4(process.pid, 0)
    cpu.append(usage.ru_utime + usage.ru_stime)
    process.returncode = os.waitstatus_to_exitcode(status)


def _pass_on(pipe: IO[bytes], lines: list[str], show: Callable[[str], None]) -> None:
    for raw in pipe:
        line = raw.decode(errors="replace")
        lines.append(line)
        show(line)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
