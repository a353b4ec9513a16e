"""Real Redis and Valkey servers, started on free ports of the loopback interface."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which

PROGRAMS = ("redis-server", "redis-server-8", "valkey-server")
INSTALLED = tuple(program for program in PROGRAMS if which(program))


class Server:
    def __init__(self, program: str) -> None:
        self.program = program
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = subprocess.Popen(
            [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                assert time.monotonic() < deadline, f"{self.program} does not start"
                time.sleep(0.01)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def started(program: str) -> Iterator[Server]:
    server = Server(program)
    try:
        yield server
    finally:
        server.stop()
