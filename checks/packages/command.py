"""Runs a user's commands: with none of this checkout's paths in the environment, with a limit of
time, and with all that was printed in the failure."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# Settings by which a package could find this checkout, or earlier installations. The package
# clients' own settings stay: a mirror may be the only reachable registry.
FORBIDDEN = (
    "BUNDLE_GEMFILE",
    "CARGO_TARGET_DIR",
    "GEM_HOME",
    "GEM_PATH",
    "MYPYPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "POLYCACHE_ROOT",
    "PYTHONHOME",
    "PYTHONPATH",
    "RUBYLIB",
    "RUBYOPT",
    "VIRTUAL_ENV",
)


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    code: int
    stdout: str
    stderr: str


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process' environment without FORBIDDEN, with `changes`."""
    kept = {name: value for name, value in os.environ.items() if name not in FORBIDDEN}
    return kept | dict(changes or {})


def run(
    command: Sequence[str | Path],
    folder: Path,
    env: Mapping[str, str] | None = None,
    *,
    stdin: str = "",
    code: int | None = 0,
    timeout: float = 300,
) -> Done:
    """Runs `command` in `folder` with `environment(env)` and fails when it does not exit with
    `code` (None: any) within `timeout` seconds. Nothing that it started outlives it."""
    process = _popen(command, folder, env, stdin=subprocess.PIPE)
    try:
        stdout, stderr = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        stdout, stderr = process.communicate()
        raise AssertionError(
            _story(command, folder, f"not over after {timeout:g} s", stdout, stderr)
        ) from None
    finally:
        _kill_group(process)
    if code is not None and process.returncode != code:
        said = f"exit code {process.returncode}, expected {code}"
        raise AssertionError(_story(command, folder, said, stdout, stderr))
    return Done(process.returncode, stdout, stderr)


class Running:
    """A program that goes on, such as a server. `with` ends it and what it started."""

    def __init__(
        self,
        command: Sequence[str | Path],
        folder: Path,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.command, self.folder = command, folder
        self.process = _popen(command, folder, env, stdin=subprocess.DEVNULL)

    def line(self, timeout: float = 60) -> str:
        """The next line of its output; fails when it ends or prints none within `timeout` s."""
        assert self.process.stdout
        # Killing it ends the readline, so that nothing waits for ever.
        late = threading.Timer(timeout, _kill_group, [self.process])
        late.start()
        found = self.process.stdout.readline()
        late.cancel()
        if not found:
            stdout, stderr = self.process.communicate()
            said = f"printed no line and ended with {self.process.returncode}"
            raise AssertionError(_story(self.command, self.folder, said, stdout, stderr))
        return found.rstrip("\n")

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        _kill_group(self.process)
        self.process.communicate()


def free_port() -> int:
    """A free TCP port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _popen(
    command: Sequence[str | Path], folder: Path, env: Mapping[str, str] | None, stdin: int
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=folder,
        env=environment(env),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def _kill_group(process: subprocess.Popen[str]) -> None:
    # It is the leader of a session of its own, so this reaches only what it started.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _story(command: Sequence[str | Path], folder: Path, said: str, stdout: str, stderr: str) -> str:
    words = shlex.join(str(word) for word in command)
    return f"{said}\n$ cd {folder} && {words}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
