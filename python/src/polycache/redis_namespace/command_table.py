"""What is known of every command: a copy of spec/commands.json, and what a user adds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import NoneType
from typing import Any

from ..errors import CommandNotAllowed, InvalidArgument, UnknownCommand
from .prefix import Prefix
from .replies import BY_NAME, Reply, messages
from .rules import Range, Rewrite, Rule, Words, build, upper

Rules = Sequence[Sequence[Any]]
"""Where a command's keys stand, as in spec/commands.json."""


EMULATED = frozenset(("DBSIZE", "FLUSHDB", "RANDOMKEY"))
"""Commands that are several inside a namespace."""

NARROWED = frozenset(("SCAN", "PUBSUB|CHANNELS", "PUBSUB|SHARDCHANNELS"))
"""Commands that get a pattern where they have none."""

ENDS = frozenset(("EXEC", "DISCARD", "RESET"))
TRANSACTION = ENDS | {"MULTI"}
"""Commands that begin and end a transaction."""


class Command:
    """A command or subcommand. `kind` is rewrite, pass, scope or server."""

    __slots__ = (
        *("emulated", "keys", "kind", "name", "narrowed", "reply", "rules", "stripped"),
        *("first", "tracked", "transactional"),
    )

    def __init__(self, name: str, kind: str, rules: Sequence[Rule], reply: str | None) -> None:
        self.name = name
        self.kind = kind
        self.rules = tuple(rules)
        self.reply: Reply | None = BY_NAME[reply] if reply else None
        self.emulated = kind == "scope" and name in EMULATED
        self.narrowed = name in NARROWED
        self.transactional = name in TRANSACTION
        self.tracked = bool(reply) or kind == "scope" or self.transactional
        """Whether its reply has to be looked at."""
        alone = rules[0] if len(rules) == 1 and isinstance(rules[0], Range) else None
        self.first: Rewrite | None = (
            alone.rewrite if alone and alone.first and not self.narrowed else None
        )
        """What its first word gets, when it is the only one that gets anything."""
        self.keys: Range | None = alone if alone and alone.keys and not self.tracked else None
        """Where its keys stand, when they stand in a row and nothing else is to do, as in most
        commands."""

        self.stripped = self.reply not in (None, messages) and not self.emulated
        """Whether prefixes are to be taken off its reply, wherever it was sent."""

    def __repr__(self) -> str:
        return f"Command({self.name!r}, {self.kind!r})"

    def rewrite(self, words: Words, prefix: Prefix) -> Words:
        """Rewrites the words in place."""
        for rule in self.rules:
            rule.apply(words, prefix)
        if self.narrowed:
            narrow(self.name, words, prefix)
        return words

    def taken_off(self, reply: Any, prefix: Prefix) -> Any:
        """The reply without prefixes."""
        return self.reply(reply, prefix) if self.reply else reply


class CommandTable:
    """Commands by their names.

    `allow` names commands that pass as they are: ones that touch the whole server, or that are not
    in the table and have no keys. `commands` has the rules of further ones.
    """

    def __init__(
        self, allow: Iterable[str] = (), commands: Mapping[str, Rules] | None = None
    ) -> None:
        self.known: dict[str, Command] = {}
        """Commands of one word that may be sent, by the names that most callers write."""
        self._commands: dict[str, Command] = {}
        self._containers: dict[str, dict[str, Command]] = {}
        for name, said in _said().items():
            self._put(name, said["do"], said.get("at", ()), said.get("reply"))
        if isinstance(allow, (str, bytes)) or not isinstance(allow, Iterable):
            raise InvalidArgument(f"allow is a list of names, not {allow!r}")
        if not isinstance(commands, (Mapping, NoneType)):
            raise InvalidArgument(f"commands has the rules of each by its name, not {commands!r}")
        for name, rules in (commands or {}).items():
            if not isinstance(rules, (list, tuple)) or not all(
                isinstance(rule, (list, tuple)) for rule in rules
            ):
                raise InvalidArgument(f"the rules of {name} are a list of lists, not {rules!r}")
            self._put(_named(name), "rewrite", rules, None)
        for name in allow:
            self._pass(_named(name))

    def find(self, words: Sequence[Any]) -> Command:
        """The command that the words are.

        Raises UnknownCommand when it is not in the table, CommandNotAllowed when it touches the
        whole server.
        """
        name = upper(words[0]) if words else None
        command = self._commands.get(name or "")
        if command is None or (len(words) > 1 and command.name in self._containers):
            command = self._subcommand(name, words)
        if command.kind != "server":
            return command
        said = command.name.replace("|", " ")
        raise CommandNotAllowed(
            f"{said} touches the whole server, other namespaces included. "
            f'If that is meant, say allow=["{said}"]'
        )

    def _put(self, name: str, kind: str, rules: Rules, reply: str | None) -> None:
        command = Command(name, kind, [build(list(rule)) for rule in rules], reply)
        container, _, sub = name.partition("|")
        if sub:
            self._containers.setdefault(container, {})[sub] = command
        else:
            self._commands[name] = command
        # Most callers write commands in one of the two.
        for written in (container, container.lower()):
            self.known.pop(written, None)
            if command.kind != "server" and container not in self._containers:
                self.known[written] = command

    # A container stands for all of its subcommands that would be refused.
    def _pass(self, name: str) -> None:
        refused = [
            command.name
            for command in self._containers.get(name, {}).values()
            if command.kind == "server"
        ]
        for one in refused or [name]:
            self._put(one, "pass", (), None)

    def _subcommand(self, container: str | None, words: Sequence[Any]) -> Command:
        subs = self._containers.get(container or "")
        sub = upper(words[1]) if subs and len(words) > 1 else None
        if subs and sub in subs:
            return subs[sub]
        whole = self._commands.get(container or "")
        if subs and whole and whole.kind == "pass":
            return whole
        raise UnknownCommand(_unknown(words, subs is not None))


def narrow(name: str, words: Words, prefix: Prefix) -> None:
    """Without a pattern SCAN would walk through all namespaces, and PUBSUB CHANNELS tell of all."""
    if name == "SCAN":
        # Its options all have one argument.
        if all(upper(words[at]) != "MATCH" for at in range(2, len(words), 2)):
            words += ["MATCH", prefix.pattern("*")]
    elif len(words) == 2:
        words.append(prefix.pattern("*"))


def _unknown(words: Sequence[Any], container: bool) -> str:
    parts = [upper(word) or repr(word) for word in words[: 2 if container else 1]]
    said = " ".join(parts)
    return (
        f"{said} is not known, so it cannot be said which of its words are keys. If it has none, "
        f'say allow=["{said}"]; else say where they stand, for a first key '
        f'commands={{"{"|".join(parts)}": [["key", 1, 1, 1]]}}'
    )


def _named(name: str) -> str:
    if isinstance(name, str) and name:
        return name.upper().replace(" ", "|")
    raise InvalidArgument(f"a command's name is text, not {name!r}")


@cache
def _said() -> dict[str, Any]:
    text = files(__package__).joinpath("commands.json").read_text("utf-8")
    commands: dict[str, Any] = json.loads(text)["commands"]
    return commands


@cache
def default() -> CommandTable:
    """The table of spec/commands.json alone."""
    return CommandTable()
