"""A Redis of the benchmark's own, on a free port of the loopback interface."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

# Seconds for the server to come up.
PATIENCE = 10


class Redis:
    """`port` is 0 when there is no server here: then its subjects say so."""

    def __init__(self, port: int) -> None:
        self.port = port

    def command(self, *words: str) -> str:
        """One command, one line of answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            parts = [f"${len(word)}\r\n{word}\r\n" for word in words]
            connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
            return connection.makefile().readline().strip()

    def clear(self) -> None:
        if self.port:
            self.command("FLUSHALL")


@contextmanager
def running(folder: Path, apart: bool = False) -> Iterator[Redis]:
    """Nothing is written to the disk: that is Redis at its fastest. `apart`: it has a processor to
    itself, where there are two."""
    binary = shutil.which("redis-server")
    if binary is None:
        yield Redis(0)
        return
    folder.mkdir(parents=True)
    port = _free_port()
    options = f"--bind 127.0.0.1 --port {port} --appendonly no --daemonize no".split()
    process = subprocess.Popen(
        [binary, *options, "--save", "", "--dir", str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        redis = Redis(port)
        _wait(redis, process)
        with _apart(process.pid) if apart else nullcontext():
            yield redis
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _apart(server: int) -> Iterator[None]:
    """The server keeps one processor, and this process and those that it starts have the others.
    Where the scheduler moves them, the same round trip takes 19 µs if both share a processor, and
    60 if an idle one has to be woken; which it is depends on what else a client does."""
    every = os.sched_getaffinity(0)
    if len(every) < 2:
        yield
        return
    last = max(every)
    os.sched_setaffinity(server, {last})
    os.sched_setaffinity(0, every - {last})
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def _wait(redis: Redis, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if redis.command("PING") == "+PONG":
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("redis-server does not come up")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
