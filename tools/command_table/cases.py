"""Calls of every command, made from the server's own description of its arguments, and the
positions of their keys, as the server itself finds them."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .connection import Connection, Refused
from .server import Server

SEED = 2026
KEY = re.compile(r"key-\d+")
# Calls that are tried of a command, and how many different ones are kept.
TRIED, KEPT = 60, 8
# Texts that look like options or like keys that have their prefix already.
TEXTS = ("v", "STREAMS", "store", "KEYS", "GET", "by", "COUNT", "shop:v", "", "a b", "*")
# These name keys by a pattern, which no server counts among the keys.
PATTERNS = {"SORT", "SORT_RO"}
# For a command that does not describe its arguments.
UNSAID = (
    {"name": "key", "type": "key"},
    {"name": "rest", "type": "string", "flags": ["multiple"]},
)


@dataclass
class Call:
    """`prefixed` holds the positions of keys, and of what else names keys."""

    words: list[str]
    prefixed: list[int] = field(default_factory=list)


class Maker:
    """Makes random calls of one command."""

    def __init__(
        self, name: str, arguments: Sequence[dict[str, Any]], chance: random.Random
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.chance = chance

    def make(self) -> Call:
        self.words = self.name.split("|")
        self.patterns: list[int] = []
        self.keys = 0
        # How many keys the next list of keys has, where a number before it says so.
        self.expected: int | None = None
        self._all(self.arguments)
        return Call(self.words, self.patterns)

    def _all(self, arguments: Sequence[dict[str, Any]]) -> None:
        before = self.keys
        for argument in arguments:
            flags = set(argument.get("flags", ()))
            wanted = argument["type"] == "key" and self.expected is not None
            if "optional" in flags and not wanted and self.chance.random() < 0.4:
                continue
            times = self._times(argument, flags, self.keys - before)
            for time in range(times):
                if "token" in argument and (time == 0 or "multiple_token" in flags):
                    self.words.append(argument["token"])
                self._one(argument)

    def _times(self, argument: dict[str, Any], flags: set[str], keys: int) -> int:
        if argument["type"] == "key" and self.expected is not None:
            times, self.expected = self.expected, None
            return times
        # As many ids as streams, as many weights as keys.
        if "multiple" in flags and argument["name"] in ("id", "ID", "weight") and keys:
            return keys
        return self.chance.choice((1, 2, 3)) if "multiple" in flags else 1

    def _one(self, argument: dict[str, Any]) -> None:
        kind = argument["type"]
        if kind == "pure-token":
            return
        if kind == "block":
            return self._all(argument["arguments"])
        if kind == "oneof":
            return self._all([self._obliged(self.chance.choice(argument["arguments"]))])
        self.words.append(self._text(argument["name"].lower(), kind))
        return None

    def _obliged(self, argument: dict[str, Any]) -> dict[str, Any]:
        return argument | {"flags": [f for f in argument.get("flags", ()) if f != "optional"]}

    def _text(self, name: str, kind: str) -> str:
        if kind == "key":
            self.keys += 1
            return f"key-{self.keys}"
        if name == "numkeys":
            self.expected = self.chance.choice((1, 2, 3))
            return str(self.expected)
        if kind == "pattern":
            self.patterns.append(len(self.words))
            return self.chance.choice(("weight_*", "object_*->field"))
        if kind in ("integer", "unix-time"):
            return str(self.chance.choice((0, 1, 10)))
        if kind == "double":
            return "1.5"
        return self.chance.choice(TEXTS)


def text(calls: Iterator[Call]) -> str:
    """spec/vectors/commands.json: a line a call, its words and the positions that get a prefix.

    Raises ValueError when servers do not agree.
    """
    lines: dict[str, str] = {}
    for call in calls:
        words = json.dumps(call.words)
        places = json.dumps(call.prefixed)
        if lines.setdefault(words, places) != places:
            raise ValueError(f"servers differ in the keys of {words}: {lines[words]} and {places}")
    return (
        "[\n"
        + ",\n".join(f"[{words}, {places}]" for words, places in sorted(lines.items()))
        + "\n]\n"
    )


def calls(server: Server, port: int) -> Iterator[Call]:
    """Calls of every command of the server that has keys."""
    with Connection(port) as connection:
        docs = dict(_described(connection.call("COMMAND", "DOCS")))
        for name in sorted(server.commands):
            if server.commands[name] and name in docs:
                yield from _of(name, docs[name] or UNSAID, connection)


def _described(docs: dict[str, Any]) -> Iterator[tuple[str, Sequence[dict[str, Any]]]]:
    for name, said in docs.items():
        yield name.upper(), said.get("arguments", ())
        yield from _described(said.get("subcommands", {}))


def _of(name: str, arguments: Sequence[dict[str, Any]], connection: Connection) -> list[Call]:
    maker = Maker(name, arguments, random.Random(f"{SEED} {name}"))
    found: dict[str, Call] = {}
    for _ in range(TRIED):
        call = maker.make()
        keys = _keys(call.words, connection)
        # Only what was made as a key has its place for certain.
        if keys is None or not all(KEY.fullmatch(key) for key in keys):
            continue
        places = [place for place, word in enumerate(call.words) if word in keys]
        patterns = call.prefixed if name in PATTERNS else []
        call.prefixed = sorted({*places, *patterns})
        found.setdefault(json.dumps(call.words), call)
    first = list(found.values())[: KEPT // 2]
    longest = sorted(found.values(), key=lambda call: len(call.words))[-KEPT // 2 :]
    return list({json.dumps(call.words): call for call in first + longest}.values())


def _keys(words: list[str], connection: Connection) -> set[str] | None:
    """What the server takes for keys; None where it would refuse the call."""
    try:
        reply = connection.call("COMMAND", "GETKEYSANDFLAGS", *words)
    except Refused:
        return None
    return {key for key, flags in reply if "not_key" not in flags}
