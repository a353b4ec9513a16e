"""Rewrites what one connection sends, and what it gets back."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import CommandNotAllowed
from . import replies, scope
from .command_table import ENDS, TRANSACTION, Command, CommandTable, Rules, default
from .namespaces import Namespace, Namespaces
from .prefix import Prefix
from .rules import Words


class Rewriter:
    """A namespace and what is known of commands; many connections share it."""

    __slots__ = ("_namespaces", "fixed", "table")

    def __init__(
        self,
        namespace: Namespace,
        *,
        allow: Iterable[str] = (),
        commands: Mapping[str, Rules] | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self._namespaces = Namespaces(namespace, encoding)
        self.table = CommandTable(allow, commands) if allow or commands else default()
        self.fixed = self._namespaces.fixed
        """The prefix, if it is always the same."""

    @property
    def prefix(self) -> Prefix:
        """The prefix of this moment."""
        return self._namespaces.prefix


class Call(NamedTuple):
    """A command that was sent, and the prefix that it was sent with."""

    command: Command
    prefix: Prefix


class Ready(NamedTuple):
    """The reply of a command that was answered by others."""

    reply: Any


class Session:
    """Remembers which replies are to come, and what a transaction has queued, because the
    replies to that come with EXEC. None stands for a command whose reply stays as it is."""

    __slots__ = ("_fixed", "_known", "_listening", "_queued", "_rewriter", "waiting")

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._known = rewriter.table.known
        self._fixed = rewriter.fixed
        self._queued: list[Call | None] | None = None
        self._listening: Prefix | None = None
        self.waiting: deque[Call | Ready | None] = deque()

    def rewrite(self, args: Sequence[Any]) -> tuple[Sequence[Any], Call | None]:
        """The words with prefixes, and what takes them off the reply.

        Raises UnknownCommand or CommandNotAllowed before anything is sent.
        """
        name = args[0]
        command = self._known.get(name) if type(name) is str else None
        if command is None:
            words = apart(args)
            command = self._rewriter.table.find(words)
        elif command.plain and len(args) > 1:
            # Most commands, in the forms that clients write them in.
            prefix = self._fixed or self._rewriter.prefix
            key = args[1]
            text = prefix.text + key if type(key) is str else prefix.key(key)
            return (name, text, *args[2:]), None
        else:
            words = [*args]
        if command.name == "UNWATCH":
            # A pipeline that is left cleans up, wherever that may be.
            return words, None
        prefix = self._prefix_of(command)
        for rule in command.rules:
            rule.apply(words, prefix)
        if not command.tracked:
            return words, None
        scope.narrow(command, words, prefix)
        return words, Call(command, prefix)

    def rewrite_all(
        self, commands: Iterable[Sequence[Any]]
    ) -> tuple[list[Sequence[Any]], list[Call | None]]:
        """The same of many commands that are sent at once."""
        list_of_words, calls = [], []
        for args in commands:
            words, call = self.rewrite(args)
            if call and self.walk(call):
                raise _several(call.command)
            list_of_words.append(words)
            calls.append(call)
        return list_of_words, calls

    def walk(self, call: Call | None) -> scope.Walk | None:
        """The commands that are to be sent instead of it, if it is not one on the server too."""
        if call is None or call.command.kind != "scope" or call.command.name not in scope.EMULATED:
            return None
        if self._queued is not None or self._opening():
            raise _several(call.command)
        return scope.EMULATED[call.command.name](call.prefix)

    def keys(self, keys: Iterable[Any]) -> list[Any]:
        """Names of keys that a client says beside its command."""
        prefix = self._rewriter.prefix
        return [prefix.key(key) for key in keys]

    def received(self, reply: Any) -> Any:
        """The next reply without prefixes."""
        call = self.waiting.popleft() if self.waiting else None
        if self._queued is None and call is None:
            return reply
        if isinstance(call, Ready):
            return call.reply
        if self._queued is not None or (call and call.command.name in TRANSACTION):
            return self._transaction(call, reply)
        return call.command.taken_off(reply, call.prefix) if call else reply

    def failed(self) -> None:
        """The next reply is an error."""
        call = self.waiting.popleft() if self.waiting else None
        if isinstance(call, Call) and call.command.name in ENDS:
            self._queued = None

    def told(self, event: Any) -> Any:
        """A message without prefixes; None when it tells of another namespace's key."""
        self.waiting.clear()
        return replies.message(event, self._listening or self._rewriter.prefix)

    def reset(self) -> None:
        """A new connection waits for nothing and is in no transaction."""
        self.waiting.clear()
        self._queued = None

    # Subscriptions of a connection stay in the namespace in which the first was made: a thread that
    # makes them again, after a connection was lost, may be in another one or in none.
    def _prefix_of(self, command: Command) -> Prefix:
        if command.reply is not replies.messages:
            return self._fixed or self._rewriter.prefix
        self._listening = self._listening or self._rewriter.prefix
        return self._listening

    def _opening(self) -> bool:
        return any(isinstance(call, Call) and call.command.name == "MULTI" for call in self.waiting)

    def _transaction(self, call: Call | None, reply: Any) -> Any:
        name = call.command.name if call else None
        if name == "MULTI":
            self._queued = []
        elif name == "EXEC":
            return self._executed(reply)
        elif name in ENDS:
            self._queued = None
        elif self._queued is not None and reply in ("QUEUED", b"QUEUED"):
            self._queued.append(call)
        else:
            # The server has forgotten the transaction: the connection was lost and made again.
            self._queued = None
            return call.command.taken_off(reply, call.prefix) if call else reply
        return reply

    def _executed(self, reply: Any) -> Any:
        queued, self._queued = self._queued or [], None
        if not isinstance(reply, list) or len(reply) != len(queued):
            return reply
        return [
            call.command.taken_off(one, call.prefix) if call else one
            for call, one in zip(queued, reply, strict=True)
        ]


def apart(args: Sequence[Any]) -> Words:
    """The words of a command, whose first argument may hold several: `"CONFIG GET"`."""
    first, *rest = args
    if isinstance(first, (bytearray, memoryview)):
        first = bytes(first)
    if not isinstance(first, (str, bytes)):
        return [first, *rest]
    parts = (first.encode() if isinstance(first, str) else first).split()
    return [first, *rest] if len(parts) == 1 and len(parts[0]) == len(first) else [*parts, *rest]


def _several(command: Command) -> CommandNotAllowed:
    return CommandNotAllowed(
        f"{command.name} inside a namespace is several commands, so it cannot be part of a "
        "pipeline or a transaction; call it by itself"
    )
