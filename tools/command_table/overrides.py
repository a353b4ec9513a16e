"""spec/commands.overrides.toml: what the servers do not say."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .rules import Rule


@dataclass(frozen=True)
class Overrides:
    """`do` is by name, or by the name of a container for all its subcommands."""

    do: dict[str, str]
    at: dict[str, list[Rule]]
    reply: dict[str, str]

    @property
    def names(self) -> set[str]:
        return self.do.keys() | self.at.keys() | self.reply.keys()

    def does(self, name: str) -> str | None:
        container, _, sub = name.partition("|")
        if sub == "HELP":
            return "pass"
        return self.do.get(name) or self.do.get(container)


def read(path: Path) -> Overrides:
    with path.open("rb") as file:
        tables: dict[str, Any] = tomllib.load(file)
    do: dict[str, str] = {}
    for table in ("pass", "server", "scope"):
        for names in tables[table].values():
            _put(do, names, table)
    reply: dict[str, str] = {}
    for kind, names in tables["reply"].items():
        _put(reply, names, kind)
    return Overrides(do, tables["at"], reply)


def _put(into: dict[str, str], names: list[str], what: str) -> None:
    for name in names:
        if name in into:
            raise ValueError(f"{name} is named twice: {into[name]} and {what}")
        into[name] = what
