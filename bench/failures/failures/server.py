"""A Redis of the benchmark's own, which it stops, kills and spoils."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

# Seconds for the server to come up.
PATIENCE = 20
# Of entries that make a restart long: so many, each loaded after so many microseconds.
FILLERS = 4000
FILLER_DELAY = 40_000


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Server:
    def __init__(self, folder: Path, *options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.port = free_port()
        self.process = self._start(*options)
        self.await_answer("+PONG", "-NOAUTH")

    def _start(self, *options: str) -> subprocess.Popen[bytes]:
        binary = shutil.which("redis-server")
        if binary is None:
            raise FileNotFoundError("there is no redis-server here")
        always = f"--bind 127.0.0.1 --port {self.port} --appendonly no --dir {self.folder}".split()
        return subprocess.Popen(
            [binary, *always, "--save", "", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def command(self, *words: str) -> str:
        """One command, the first line of its answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(_encoded(*words))
            return connection.makefile().readline().strip()

    def await_answer(self, *beginnings: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(OSError):
                if self.command("PING").startswith(beginnings):
                    return
            time.sleep(0.02)
        raise RuntimeError("redis-server does not come up")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def hang(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def load_slowly(self) -> None:
        """Kills it, and starts it again with much to load; meanwhile it answers LOADING."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            filler = "x" * 1100
            for number in range(FILLERS):
                connection.sendall(_encoded("SET", f"filler:{number}", filler))
            replies = connection.makefile()
            for _ in range(FILLERS):
                replies.readline()
        # It looks at its clients after so many bytes of the file.
        self.command("CONFIG", "SET", "rdbcompression", "no")
        self.command("SAVE")
        self.kill()
        slow = f"--key-load-delay {FILLER_DELAY} --loading-process-events-interval-bytes 1024"
        self.process = self._start(*slow.split())
        self.await_answer("-LOADING")


def _encoded(*words: str) -> bytes:
    parts = [f"${len(word)}\r\n{word}\r\n" for word in words]
    return f"*{len(words)}\r\n{''.join(parts)}".encode()


class Proxy:
    """Stands before a server; `delay` is how many seconds each piece of a reply is late."""

    def __init__(self, target: int) -> None:
        self.delay = 0.0
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            for source, sink, late in ((client, server, False), (server, client, True)):
                arguments = (source, sink, late)
                threading.Thread(target=self._pass, args=arguments, daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, late: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if late:
                    time.sleep(self.delay)
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
