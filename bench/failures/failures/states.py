"""The states of a server that its clients may meet. Each has a server of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .server import Proxy, Server, free_port

# Seconds that each reply of a slow server is late.
LATE = 1.0


@dataclass
class Scene:
    """A server as clients find it, and what happens to it when they have used it."""

    url: str
    trouble: Callable[[], object]
    """Brings it into the state."""
    works_before: bool
    """Whether clients can use it before that."""
    end: Callable[[], object]


@dataclass(frozen=True)
class State:
    name: str
    set_up: Callable[[Path], Scene]


def _nothing() -> None:
    pass


def _url(port: int, password: str = "") -> str:
    return f"redis://{f':{password}@' if password else ''}127.0.0.1:{port}"


def _never_there(folder: Path) -> Scene:
    return Scene(_url(free_port()), _nothing, False, _nothing)


def _wrong_password(folder: Path) -> Scene:
    server = Server(folder, "--requirepass", "right")
    return Scene(_url(server.port, "wrong"), _nothing, False, server.kill)


def _with(trouble: Callable[[Server], object]) -> Callable[[Path], Scene]:
    def set_up(folder: Path) -> Scene:
        server = Server(folder)
        return Scene(_url(server.port), lambda: trouble(server), True, server.kill)

    return set_up


def _slow(folder: Path) -> Scene:
    server = Server(folder)
    proxy = Proxy(server.port)

    def end() -> None:
        proxy.close()
        server.kill()

    return Scene(_url(proxy.port), lambda: setattr(proxy, "delay", LATE), True, end)


def _fill(server: Server) -> None:
    server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
    server.command("CONFIG", "SET", "maxmemory", "1")


STATES = (
    State("never there", _never_there),
    State("killed", _with(Server.kill)),
    State("hangs", _with(Server.hang)),
    State("each reply is 1 s late", _slow),
    State("loading its data", _with(Server.load_slowly)),
    State("out of memory", _with(_fill)),
    # Of a primary that nobody is.
    State("a replica", _with(lambda server: server.command("REPLICAOF", "127.0.0.1", "1"))),
    State("wrong password", _wrong_password),
)
