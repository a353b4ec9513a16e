"""The table of spec/commands.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .overrides import Overrides
from .rules import Rule, Unsaid, rules
from .server import KeySpec, Server

VERSION = 1


class Incomplete(Exception):
    """Something has to be said in the overrides first; names every place."""


def table(servers: Sequence[Server], overrides: Overrides) -> dict[str, Any]:
    names = sorted({name for server in servers for name in server.commands})
    commands: dict[str, Any] = {}
    open_questions = [
        f"{name} is in the overrides, but no command of these servers"
        for name in sorted(overrides.names - set(names) - {n.partition("|")[0] for n in names})
    ]
    for name in names:
        having = [server for server in servers if name in server.commands]
        try:
            command = _command(name, [server.commands[name] for server in having], overrides)
        except Unsaid as why:
            open_questions.append(f"{name}: {why}")
            continue
        if len(having) < len(servers):
            command["servers"] = [_label(server) for server in having]
        commands[name] = command
    if open_questions:
        raise Incomplete("\n".join(open_questions))
    return {
        "version": VERSION,
        "servers": [_label(server) for server in servers],
        "commands": commands,
    }


def text(table: dict[str, Any]) -> str:
    """A line a command, so that a change of one is a change of one line."""
    head = {name: value for name, value in table.items() if name != "commands"}
    lines = [f"{_json(name)}: {_json(one)}" for name, one in table["commands"].items()]
    opening = _json(head)[:-1]
    return f'{opening}, "commands": {{\n' + ",\n".join(lines) + "\n}}\n"


def _command(name: str, specs: list[list[KeySpec]], overrides: Overrides) -> dict[str, Any]:
    do = overrides.does(name)
    if do == "server":
        return {"do": do}
    command: dict[str, Any] = {"do": do or "rewrite"}
    if at := overrides.at.get(name) or _said(specs):
        command["at"] = at
    elif do is None:
        raise Unsaid("it has no keys; does it pass, or touch the whole server?")
    if reply := overrides.reply.get(name):
        command["reply"] = reply
    return command


def _said(specs: list[list[KeySpec]]) -> list[Rule]:
    found = [rules(one) for one in specs]
    if any(one != found[0] for one in found):
        raise Unsaid(f"the servers differ: {found}")
    return found[0]


def _label(server: Server) -> str:
    return f"{server.name} {'.'.join(server.version.split('.')[:2])}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
