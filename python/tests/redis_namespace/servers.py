"""Redis and Valkey servers of the tests' own, on free ports of the loopback interface. Each is
ended by its own process."""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = [
    name for name in ("redis-server", "redis-server-8", "valkey-server") if shutil.which(name)
]
"""What tools/setup.sh servers installs; one that is not there is left out."""
PATIENCE = 10
"""Seconds for one to come up."""


@contextmanager
def running(program: str) -> Iterator[int]:
    """Yields the port."""
    with tempfile.TemporaryDirectory(prefix="polycache-server-") as folder:
        options = ["--save", "", "--dir", folder, "--notify-keyspace-events", "KEA"]
        with _started([program], options) as port:
            yield port


@contextmanager
def sentinel(watched: int) -> Iterator[int]:
    """The same of a Sentinel that watches the server on that port, and calls it "main"."""
    with tempfile.TemporaryDirectory(prefix="polycache-sentinel-") as folder:
        state = Path(folder) / "sentinel.conf"
        state.write_text(f"sentinel monitor main 127.0.0.1 {watched} 1\n")
        with _started(["redis-server", str(state), "--sentinel"], ["--dir", folder]) as port:
            yield port


@contextmanager
def _started(program: list[str], options: list[str]) -> Iterator[int]:
    port = _free_port()
    process = subprocess.Popen(
        [*program, "--bind", "127.0.0.1", "--port", str(port), *options],
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
    raise RuntimeError(f"no server comes up on port {port}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@dataclass
class Server:
    port: int
    protocol: int
    bare: Any
    """Not in any namespace."""

    @property
    def keys(self) -> list[bytes]:
        """Every key of the server."""
        return sorted(self.bare.keys("*"))

    @property
    def options(self) -> dict[str, Any]:
        return {"port": self.port, "protocol": self.protocol}

    def cut(self) -> None:
        """Closes every connection but the bare one."""
        self.bare.execute_command("CLIENT KILL", "TYPE", "normal", "SKIPME", "yes")
        self.bare.execute_command("CLIENT KILL", "TYPE", "pubsub", "SKIPME", "yes")
