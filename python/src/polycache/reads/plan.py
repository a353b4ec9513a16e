"""What is to be known of a command before its reply is kept."""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ..errors import UncacheableRead
from ..redis_namespace.command_table import CommandTable
from ..redis_namespace.prefix import Prefix
from ..redis_namespace.rules import upper

MOST_KEYS = 1024
"""Keys that one read may name: see `crates/remote/src/reads/kept.rs`."""


class Plan(NamedTuple):
    keys: list[Any]
    shows_fields: bool
    """Whether it may show fields of a hash, which may expire by themselves."""
    is_document: bool
    """Whether its reply is the text of a JSON document."""


@cache
def said() -> dict[str, Any]:
    """The copy of spec/reads.json."""
    text = files(__package__).joinpath("reads.json").read_text("utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


@cache
def _reads() -> frozenset[str]:
    return frozenset(said()["reads"])


@cache
def _hashes() -> frozenset[str]:
    return frozenset(said()["hashes"])


@cache
def _documents() -> frozenset[str]:
    return frozenset(said()["documents"])


@cache
def _table() -> CommandTable:
    return CommandTable(commands=said()["modules"])


def is_read(name: str) -> bool:
    """Whether commands of this name, in upper case, may be cached."""
    return name in _reads()


def plan_of(words: Sequence[Any]) -> Plan:
    """What a command reads.

    Raises UncacheableRead.
    """
    name = upper(words[0]) or repr(words[0])
    if not is_read(name):
        raise refusal(name, words[1] if len(words) > 1 else None)
    if name == "XREAD" and any(upper(word) == "BLOCK" for word in _options(words)):
        raise UncacheableRead("XREAD with BLOCK waits for what comes: leave BLOCK out")
    if name == "SORT_RO" and _looks_elsewhere(words):
        raise UncacheableRead("SORT_RO with BY or GET reads keys that it does not name")
    found = _KeysFound()
    _table().find(words).rewrite([*words], found)
    if not found.found:
        raise UncacheableRead(f"this {name} names no key")
    return Plan(found.found, name in _hashes(), name in _documents())


def refusal(name: str, following: Any = None) -> UncacheableRead:
    """Why commands of this name cannot be cached."""
    refused: dict[str, str] = said()["refused"]
    why = refused.get(name)
    if why is None and following is not None:
        why = refused.get(f"{name}|{upper(following)}")
    why = why or "it is not known to be a read whose reply its keys alone decide"
    return UncacheableRead(f"{name} cannot be cached: {why}")


def _options(words: Sequence[Any]) -> Sequence[Any]:
    """The words of an XREAD before its streams."""
    for at, word in enumerate(words):
        if upper_or_none(word) == "STREAMS":
            return [one for one in words[:at] if upper_or_none(one) is not None]
    return [one for one in words if upper_or_none(one) is not None]


def upper_or_none(word: Any) -> str | None:
    """The word in upper case, if it is text."""
    return upper(word) if isinstance(word, (str, bytes, bytearray, memoryview)) else None


def _looks_elsewhere(words: Sequence[Any]) -> bool:
    at = 2
    while at < len(words):
        option = upper_or_none(words[at])
        if option == "BY":
            return True
        if option == "GET":
            if at + 1 < len(words) and words[at + 1] not in ("#", b"#"):
                return True
            at += 1
        at += 1
    return False


class _KeysFound(Prefix):
    """Takes the place of a prefix, and notes what it would be put on."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        super().__init__("")
        self.found: list[Any] = []

    def key(self, name: Any) -> Any:
        self.found.append(name)
        return name

    def keys(self, names: Sequence[Any]) -> Any:
        self.found.extend(names)
        return list(names)
