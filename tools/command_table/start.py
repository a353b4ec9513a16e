"""Servers of the machine's own loopback, for as long as they are needed."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What tools/setup.sh servers installs: Redis 7.0, Redis 8.0, Valkey 8.0.
PROGRAMS = ("redis-server", "redis-server-8", "valkey-server")
# Seconds for one to come up.
PATIENCE = 10


@contextmanager
def running(program: str, *options: str) -> Iterator[int]:
    """Yields the port. The server keeps nothing on disk, and is ended by its own process."""
    with (
        tempfile.TemporaryDirectory(prefix="polycache-server-") as folder,
        _started(program, "--save", "", "--dir", folder, *options) as port,
    ):
        yield port


@contextmanager
def sentinel(program: str) -> Iterator[int]:
    """The same for a Sentinel that watches no server. It needs a file to keep its state in."""
    with tempfile.TemporaryDirectory(prefix="polycache-sentinel-") as folder:
        state = Path(folder) / "sentinel.conf"
        state.touch()
        with _started(program, str(state), "--sentinel", "--dir", folder) as port:
            yield port


@contextmanager
def _started(program: str, *options: str) -> Iterator[int]:
    port = _free_port()
    # A file of options comes first.
    first = [one for one in options[:1] if not one.startswith("--")]
    rest = options[len(first) :]
    process = subprocess.Popen(
        [program, *first, "--bind", "127.0.0.1", "--port", str(port), *rest],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                if connection.recv(16).startswith(b"+PONG"):
                    return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the server does not come up")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
