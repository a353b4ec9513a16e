"""Servers of the machine's own loopback, for as long as they are needed."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

# What tools/setup.sh servers installs: Redis 7.0, Redis 8.0, Valkey 8.0.
PROGRAMS = ("redis-server", "redis-server-8", "valkey-server")
# Seconds for one to come up.
PATIENCE = 10


@contextmanager
def running(program: str, *options: str) -> Iterator[int]:
    """Yields the port. The server keeps nothing on disk, and is ended by its own process."""
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="polycache-server-") as folder:
        process = subprocess.Popen(
            [
                program,
                "--bind",
                "127.0.0.1",
                "--port",
                str(port),
                "--save",
                "",
                "--dir",
                folder,
                *options,
            ],
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
