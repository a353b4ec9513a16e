"""Real Redis and Valkey servers, started on free ports of the loopback interface."""

import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import which

PROGRAMS = ("redis-server", "redis-server-8", "valkey-server")
INSTALLED = tuple(program for program in PROGRAMS if which(program))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Server:
    def __init__(self, program: str, options: Sequence[str] = ()) -> None:
        self.program = program
        self.options = options
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                self.program,
                *("--port", str(self.port), "--bind", "127.0.0.1", "--save", ""),
                *self.options,
            ],
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
def started(program: str, options: Sequence[str] = ()) -> Iterator[Server]:
    server = Server(program, options)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def cluster(folder: Path, options: Sequence[str] = (), replicas: int = 0) -> Iterator[list[Server]]:
    """Three primaries, which know each other, and so many replicas of each."""
    with ExitStack() as stack:
        nodes = []
        for number in range(3 + 3 * replicas):
            words = ["--cluster-enabled", "yes", "--cluster-config-file", f"{number}.conf"]
            words += ["--cluster-port", str(free_port()), "--dir", str(folder), *options]
            nodes.append(stack.enter_context(started(PROGRAMS[0], words)))
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        told = subprocess.run(
            [
                *("redis-cli", "--cluster-yes", "--cluster", "create", *addresses),
                *("--cluster-replicas", str(replicas)),
            ],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stdout
        deadline = time.monotonic() + 20
        while not all(map(_is_up, nodes)):
            assert time.monotonic() < deadline, "the Cluster does not come up"
            time.sleep(0.01)
        yield nodes


def _is_up(node: Server) -> bool:
    is_behind = "master_link_status:down" in _asked(node, "INFO", "replication")
    return not is_behind and "cluster_state:ok" in _asked(node, "CLUSTER", "INFO")


def _asked(node: Server, *words: str) -> str:
    command = ["redis-cli", "-p", str(node.port), *words]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


class Certificates:
    """An authority, and what it says of a server on the loopback interface and of a client."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._issue("ca", "basicConstraints=critical,CA:TRUE", by=None)
        self._issue("server", "subjectAltName=DNS:localhost,IP:127.0.0.1", by="ca")
        self._issue("client", "extendedKeyUsage=clientAuth", by="ca")

    def file(self, name: str) -> str:
        return str(self.folder / name)

    def options(self, port: int) -> list[str]:
        """Of a server that listens on that port, too."""
        return [
            *("--tls-port", str(port), "--tls-ca-cert-file", self.file("ca.pem")),
            *(
                "--tls-cert-file",
                self.file("server.pem"),
                "--tls-key-file",
                self.file("server.key"),
            ),
        ]

    def client(self) -> dict[str, str]:
        """Of a client of the package redis."""
        return {
            "ssl_ca_certs": self.file("ca.pem"),
            "ssl_certfile": self.file("client.pem"),
            "ssl_keyfile": self.file("client.key"),
        }

    def _issue(self, name: str, says: str, by: str | None) -> None:
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
        command += ["-subj", f"/CN={name}", "-addext", says]
        command += ["-keyout", self.file(f"{name}.key"), "-out", self.file(f"{name}.pem")]
        if by is not None:
            command += ["-CA", self.file(f"{by}.pem"), "-CAkey", self.file(f"{by}.key")]
            command += ["-addext", "basicConstraints=critical,CA:FALSE"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
