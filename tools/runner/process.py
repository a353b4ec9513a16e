"""Runs one command. Its output is shown as it comes, and kept; nothing it started outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO


def run(command: str, folder: Path, timeout: float | None = None) -> tuple[int, str]:
    """The exit code and everything that was printed. Code 124: the time ran out (seconds)."""
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
    reader = threading.Thread(target=_pass_on, args=(process.stdout, lines), daemon=True)
    reader.start()
    try:
        code = process.wait(timeout)
        reader.join(timeout=1)
    except subprocess.TimeoutExpired:
        code = 124
    finally:
        _kill_group(process.pid)
        process.wait()
        reader.join(timeout=10)
    return code, "".join(lines)


def _pass_on(pipe: IO[bytes], lines: list[str]) -> None:
    for raw in pipe:
        line = raw.decode(errors="replace")
        lines.append(line)
        sys.stdout.write(line)
        sys.stdout.flush()


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
