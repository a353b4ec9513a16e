"""Rewrites what one connection sends, and what it gets back."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import CommandNotAllowed, InvalidArgument
from . import replies, scope
from .command_table import ENDS, Command, CommandTable, Rules, default
from .namespaces import Namespace, Namespaces
from .prefix import SEPARATOR, Prefix
from .replies import Reply
from .rules import Words

_QUEUED = ("QUEUED", b"QUEUED")


class Rewriter:
    """A namespace and what is known of commands; many connections share it."""

    __slots__ = ("_namespaces", "_plain", "_stripped", "fixed", "table")

    def __init__(
        self,
        namespace: Namespace,
        *,
        allow: Iterable[str] = (),
        commands: Mapping[str, Rules] | None = None,
        encoding: str = "utf-8",
        separator: str = SEPARATOR,
    ) -> None:
        self._namespaces = Namespaces(namespace, encoding, separator)
        self.table = CommandTable(allow, commands) if allow or commands else default()
        self.fixed = self._namespaces.fixed
        """The prefix, if it is always the same."""
        known = self.table.known.items()
        self._plain = {name: one.keys for name, one in known if one.keys is not None}
        self._stripped = {
            name: (one, one.reply) for name, one in known if one.stripped and one.reply
        }

    @property
    def prefix(self) -> Prefix:
        """The prefix of this moment."""
        return self._namespaces.prefix

    def plain(self, args: Sequence[Any]) -> Sequence[Any] | None:
        """The words with prefixes, of most commands in the forms that clients write them in; None
        where more is to do."""
        name = args[0] if args else None
        keys = self._plain.get(name) if type(name) is str else None
        if keys is None or len(args) < 2:
            return None
        prefix = self.fixed or self._namespaces.prefix
        if keys.first_key:
            key = args[1]
            text = prefix.text + key if type(key) is str else prefix.key(key)
            return (name, text, *args[2:])
        if keys.all_keys:
            return [name, *prefix.keys(args[1:])]
        words = [*args]
        keys.apply(words, prefix)
        return words

    def stripped(self, args: Sequence[Any]) -> tuple[Words, Reply, Prefix] | None:
        """The same for commands whose reply has prefixes, too, and what removes them."""
        name = args[0]
        known = self._stripped.get(name) if type(name) is str else None
        if known is None:
            return None
        command, take_off = known
        prefix = self.fixed or self._namespaces.prefix
        if command.first and len(args) > 1:
            return [name, command.first(prefix, args[1]), *args[2:]], take_off, prefix
        return command.rewrite([*args], prefix), take_off, prefix


class Call:
    """A command that was sent, and the prefix that it was sent with."""

    __slots__ = ("command", "prefix")

    def __init__(self, command: Command, prefix: Prefix) -> None:
        self.command = command
        self.prefix = prefix

    def taken_off(self, reply: Any) -> Any:
        """The reply without prefixes."""
        return self.command.taken_off(reply, self.prefix)


class Ready:
    """The reply of a command that was answered by others."""

    __slots__ = ("reply",)

    def __init__(self, reply: Any) -> None:
        self.reply = reply


class Session:
    """Remembers which replies are to come and what a transaction has queued, because EXEC brings
    the replies to that. None stands for a command whose reply stays as it is."""

    __slots__ = ("_fixed", "_known", "_listening", "_plain", "_queued", "_rewriter", "waiting")

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._known = rewriter.table.known
        self._plain = rewriter.plain
        self._fixed = rewriter.fixed
        self._queued: list[Call | None] | None = None
        self._listening: Prefix | None = None
        self.waiting: deque[Call | Ready | None] = deque()

    def rewrite(self, args: Sequence[Any]) -> tuple[Sequence[Any], Call | None]:
        """The words with prefixes, and what takes them off the reply.

        Raises UnknownCommand or CommandNotAllowed before anything is sent.
        """
        plain = self._plain(args)
        if plain is not None:
            return plain, None
        name = args[0] if args else None
        command = self._known.get(name) if type(name) is str else None
        if command is None:
            words = apart(args)
            command = self._rewriter.table.find(words)
        else:
            words = [*args]
        if command.name == "UNWATCH":
            # A pipeline that is left cleans up, wherever that may be.
            return words, None
        prefix = self._prefix_of(command)
        command.rewrite(words, prefix)
        return words, Call(command, prefix) if command.tracked else None

    def rewrite_all(
        self, commands: Iterable[Sequence[Any]]
    ) -> tuple[list[Sequence[Any]], list[Call | None]]:
        """The same of many commands that are sent at once."""
        list_of_words, calls = [], []
        for args in commands:
            words, call = self.rewrite(args)
            if call is not None and call.command.emulated:
                raise _several(call.command)
            list_of_words.append(words)
            calls.append(call)
        return list_of_words, calls

    def walk(self, call: Call) -> scope.Walk:
        """The commands that are to be sent instead of an emulated one."""
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
        queued = self._queued
        if call is None:
            if queued is None:
                return reply
            # What most commands of a pipeline give.
            if reply in _QUEUED:
                queued.append(None)
                return reply
        elif isinstance(call, Ready):
            return call.reply
        elif queued is None and not call.command.transactional:
            return call.taken_off(reply)
        return self._transaction(call, reply)

    def failed(self) -> None:
        """The next reply is an error."""
        call = self.waiting.popleft() if self.waiting else None
        if isinstance(call, Call) and call.command.name in ENDS:
            self._queued = None

    @property
    def queueing(self) -> bool:
        """Whether a transaction is open."""
        return self._queued is not None

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
        name = call.command.name if call is not None else None
        if name == "MULTI":
            self._queued = []
        elif name == "EXEC":
            return self._executed(reply)
        elif name in ENDS:
            self._queued = None
        elif self._queued is not None and reply in _QUEUED:
            self._queued.append(call)
        else:
            # The server has forgotten the transaction: the connection was lost and made again.
            self._queued = None
            return call.taken_off(reply) if call else reply
        return reply

    def _executed(self, reply: Any) -> Any:
        queued, self._queued = self._queued or [], None
        if not isinstance(reply, list) or len(reply) != len(queued):
            return reply
        return [
            call.taken_off(one) if call else one for call, one in zip(queued, reply, strict=True)
        ]


def name_of(args: Sequence[Any]) -> str | bytes:
    """The command's name.

    Raises InvalidArgument for another type: redis-py would look for its callback, and fail, only
    when it has sent the command.
    """
    if args and isinstance(args[0], (str, bytes)):
        return args[0]
    said = type(args[0]).__name__ if args else "nothing"
    raise InvalidArgument(f"a command's name is str or bytes, not {said}")


def apart(args: Sequence[Any]) -> Words:
    """The words of a command, whose first argument may hold several: `"CONFIG GET"`."""
    first, rest = name_of(args), args[1:]
    parts = (first.encode() if isinstance(first, str) else first).split()
    return [first, *rest] if len(parts) == 1 and len(parts[0]) == len(first) else [*parts, *rest]


def _several(command: Command) -> CommandNotAllowed:
    return CommandNotAllowed(
        f"{command.name} inside a namespace is several commands, so it cannot be part of a "
        "pipeline or a transaction; call it by itself"
    )
