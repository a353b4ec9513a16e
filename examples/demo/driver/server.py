"""A Redis or Valkey of the demo's own, on a free port of the loopback interface."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("redis-server", "valkey-server")
# Seconds for the server to come up.
PATIENCE = 10


class NoServer(Exception):
    """None can be started here; it says why."""


class Server:
    """It writes nothing to the disk."""

    def __init__(self, folder: Path) -> None:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            raise NoServer(f"no {' or '.join(PROGRAMS)} here")
        self.name = Path(program).name
        self.port = _free_port()
        options = f"--bind 127.0.0.1 --port {self.port} --appendonly no".split()
        self.process = subprocess.Popen(
            [program, *options, "--save", "", "--dir", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise NoServer(f"{self.name} does not start on a free port")
            time.sleep(0.01)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def command(self, *words: str) -> str:
        """One command of a client that knows nothing of caches; the first line of its answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
            connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
            return connection.makefile().readline().strip()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def _answers(self) -> bool:
        try:
            return self.command("PING") == "+PONG"
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
