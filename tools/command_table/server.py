"""What a server says of its commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .connection import Connection


@dataclass(frozen=True)
class KeySpec:
    """Where keys stand (https://redis.io/docs/latest/develop/reference/key-specs/)."""

    begin: str
    begin_spec: dict[str, Any]
    find: str
    find_spec: dict[str, Any]
    flags: frozenset[str]


@dataclass(frozen=True)
class Server:
    """`commands` holds every command and subcommand that can be called, by its upper-case name
    (`XGROUP|CREATE`)."""

    name: str
    version: str
    commands: dict[str, list[KeySpec]]


def ask(port: int, sentinel: int | None = None) -> Server:
    """Asks the server on a port of this machine, and for SENTINEL the one that is a Sentinel."""
    commands: dict[str, list[KeySpec]] = {}
    with Connection(port) as connection:
        about = connection.call("HELLO", "3")
        info = connection.call("INFO", "server")
        for command in connection.call("COMMAND"):
            _collect(command, commands)
    if sentinel is not None:
        with Connection(sentinel) as connection:
            connection.call("HELLO", "3")
            for command in connection.call("COMMAND", "INFO", "sentinel"):
                _collect(command, commands)
    return Server(about["server"], _version(about["server"], info), commands)


def _version(name: str, info: str) -> str:
    """Valkey calls itself Redis 7.2.4 for old clients' sake."""
    lines = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
    return lines[f"{name}_version"]


def _collect(command: list[Any], into: dict[str, list[KeySpec]]) -> None:
    """The fields are documented at https://redis.io/docs/latest/commands/command/."""
    name, specs, subcommands = command[0].upper(), command[8], command[9]
    for subcommand in subcommands:
        _collect(subcommand, into)
    # A container cannot be called by itself, but for COMMAND.
    if not subcommands or name == "COMMAND":
        into[name] = [_key_spec(spec) for spec in specs]


def _key_spec(spec: dict[str, Any]) -> KeySpec:
    begin, find = spec["begin_search"], spec["find_keys"]
    return KeySpec(
        begin["type"], begin["spec"], find["type"], find["spec"], frozenset(spec["flags"])
    )
