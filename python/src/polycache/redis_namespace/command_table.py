"""What is known of every command: a copy of spec/commands.json, and what a user adds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import CommandNotAllowed, InvalidArgument, UnknownCommand
from .prefix import Prefix
from .replies import BY_NAME, Reply
from .rules import Rule, Words, build, upper

Rules = Sequence[Sequence[Any]]
"""Where a command's keys stand, as in spec/commands.json."""


ENDS = frozenset(("EXEC", "DISCARD", "RESET"))
TRANSACTION = ENDS | {"MULTI"}
"""Commands that begin and end a transaction."""


class Command:
    """A command or subcommand. `kind` is rewrite, pass, scope or server."""

    __slots__ = ("kind", "name", "plain", "reply", "rules", "tracked")

    def __init__(self, name: str, kind: str, rules: Sequence[Rule], reply: str | None) -> None:
        self.name = name
        self.kind = kind
        self.rules = tuple(rules)
        self.reply: Reply | None = BY_NAME[reply] if reply else None
        self.tracked = bool(reply) or kind == "scope" or name in TRANSACTION
        """Whether its reply has to be looked at."""
        self.plain = len(rules) == 1 and rules[0].first_key and not self.tracked
        """Whether its one key is its first word, as in most commands, and nothing else is to do."""

    def __repr__(self) -> str:
        return f"Command({self.name!r}, {self.kind!r})"

    def rewrite(self, words: Words, prefix: Prefix) -> Words:
        """Rewrites the words in place."""
        for rule in self.rules:
            rule.apply(words, prefix)
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
        if isinstance(allow, str):
            raise InvalidArgument(f"allow is a list of names, not {allow!r}")
        for name, rules in (commands or {}).items():
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
