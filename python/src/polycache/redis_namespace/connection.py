"""Connections of redis-py that put prefixes on what is sent, and take them off what is read.

Everything that redis-py does passes here: commands, pipelines, transactions, subscriptions, locks,
scripts, the pipelines of its modules. What it keeps and sends again, after a connection was lost,
is what the caller said, without prefixes; so none gets two.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from time import monotonic
from typing import Any

from redis.exceptions import DataError, ResponseError

from ..errors import CommandNotAllowed, PolycacheError
from .scope import Walk
from .session import Call, Ready, Session


class Wrapped:
    """What is the same with and without asyncio. Whatever is not here is the connection's own."""

    __slots__ = (
        "__weakref__",
        "_cached",
        "_encoder",
        "_own_push_handler",
        "_packed",
        "_session",
        "inner",
    )

    def __init__(self, inner: Any, session: Session, encoder: Any, cached: bool) -> None:
        self.inner = inner
        self._session = session
        self._encoder = encoder
        self._cached = cached
        self._packed: Sequence[Call | None] | None = None
        self._own_push_handler: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __repr__(self) -> str:
        return f"<namespaced {self.inner!r}>"

    # What redis-py asks for with every command: much faster than __getattr__.
    retry = property(attrgetter("inner.retry"))
    host = property(attrgetter("inner.host"))
    port = property(attrgetter("inner.port"))
    db = property(attrgetter("inner.db"))
    should_reconnect = property(attrgetter("inner.should_reconnect"))

    # redis-py sets it on a connection of HIMPORT.
    @property
    def _himport_reconciled_revision(self) -> Any:
        return self.inner._himport_reconciled_revision

    @_himport_reconciled_revision.setter
    def _himport_reconciled_revision(self, value: Any) -> None:
        self.inner._himport_reconciled_revision = value

    # PubSub gives its push handler to the parser, past the connection.
    @property
    def _parser(self) -> "Parser":
        return Parser(self)

    def disconnect(self, *args: Any, **options: Any) -> Any:
        self._session.reset()
        return self.inner.disconnect(*args, **options)

    def pack_command(self, *args: Any) -> Any:
        [words], self._packed = self._session.rewrite_all([args])
        return self.inner.pack_command(*words)

    def pack_commands(self, commands: Iterable[Sequence[Any]]) -> Any:
        words, self._packed = self._session.rewrite_all(commands)
        return self.inner.pack_commands(words)

    def released(self) -> bool:
        """The connection goes back to its pool. Tells whether a transaction is open there."""
        if self._own_push_handler is not None:
            self.inner._parser.set_pubsub_push_handler(self._own_push_handler)
        return self._session.queueing

    # The names of keys beside a command: they are for the client-side cache alone, and what the
    # server will invalidate.
    def _name_keys(self, options: dict[str, Any]) -> None:
        keys = options.pop("keys", None)
        if self._cached and keys is not None:
            options["keys"] = self._session.keys(keys)

    def _answered(self, reply: Any) -> None:
        self._session.waiting.append(Ready(self._encoder.decode(reply)))

    def _unpacked(self) -> Sequence[Call | None]:
        calls, self._packed = self._packed, None
        if calls is None:
            raise CommandNotAllowed(
                "what was not packed by this connection may be outside the namespace"
            )
        return calls

    def _told(self, event: Any) -> Any:
        # A push handler was told already, and this is what it gave back.
        return event if self._own_push_handler is not None else self._session.told(event)


class Connection(Wrapped):
    __slots__ = ()

    def send_command(self, *args: Any, **options: Any) -> None:
        session = self._session
        words, call = session.rewrite(args)
        if options:
            self._name_keys(options)
        if call is not None and call.command.emulated:
            return self._answered(self._walk(session.walk(call)))
        try:
            self.inner.send_command(*words, **options)
        except (DataError, PolycacheError):
            # Nothing was sent.
            raise
        except BaseException:
            session.reset()
            raise
        session.waiting.append(call)

    def send_packed_command(self, command: Any, *args: Any, **options: Any) -> None:
        calls = self._unpacked()
        try:
            self.inner.send_packed_command(command, *args, **options)
        except BaseException:
            self._session.reset()
            raise
        self._session.waiting.extend(calls)

    def read_response(self, *args: Any, **options: Any) -> Any:
        if options and options.get("push_request"):
            return self._event(*args, **options)
        session = self._session
        waiting = session.waiting
        if waiting and type(waiting[0]) is Ready:
            return session.received(None)
        try:
            reply = self.inner.read_response(*args, **options)
        except ResponseError:
            session.failed()
            raise
        except BaseException:
            session.reset()
            raise
        return session.received(reply)

    # The next event of this namespace. One that tells of another namespace's key is dropped, and
    # the wait goes on for what is left of the time.
    def _event(self, *args: Any, **options: Any) -> Any:
        deadline = _deadline(options)
        while (event := self.inner.read_response(*args, **options)) is not None:
            told = self._told(event)
            if told is not None or "timeout" not in options:
                return told
            if deadline is not None:
                options["timeout"] = left = max(deadline - monotonic(), 0)
                if not self.inner.can_read(timeout=left):
                    return None
        return None

    def _walk(self, walk: Walk) -> Any:
        words = next(walk)
        while True:
            self.inner.send_command(*words)
            reply = self.inner.read_response(disable_decoding=True)
            try:
                words = walk.send(reply)
            except StopIteration as done:
                return done.value


class AsyncConnection(Wrapped):
    __slots__ = ()

    async def send_command(self, *args: Any, **options: Any) -> None:
        session = self._session
        words, call = session.rewrite(args)
        if options:
            self._name_keys(options)
        if call is not None and call.command.emulated:
            return self._answered(await self._walk(session.walk(call)))
        try:
            await self.inner.send_command(*words, **options)
        except (DataError, PolycacheError):
            # Nothing was sent.
            raise
        except BaseException:
            session.reset()
            raise
        session.waiting.append(call)

    async def send_packed_command(self, command: Any, *args: Any, **options: Any) -> None:
        calls = self._unpacked()
        try:
            await self.inner.send_packed_command(command, *args, **options)
        except BaseException:
            self._session.reset()
            raise
        self._session.waiting.extend(calls)

    async def read_response(self, *args: Any, **options: Any) -> Any:
        if options and options.get("push_request"):
            return await self._event(*args, **options)
        session = self._session
        waiting = session.waiting
        if waiting and type(waiting[0]) is Ready:
            return session.received(None)
        try:
            reply = await self.inner.read_response(*args, **options)
        except ResponseError:
            session.failed()
            raise
        except BaseException:
            session.reset()
            raise
        return session.received(reply)

    async def _event(self, *args: Any, **options: Any) -> Any:
        deadline = _deadline(options)
        while (event := await self.inner.read_response(*args, **options)) is not None:
            told = self._told(event)
            if told is not None or "timeout" not in options:
                return told
            if deadline is not None:
                options["timeout"] = max(deadline - monotonic(), 0)
        return None

    async def _walk(self, walk: Walk) -> Any:
        words = next(walk)
        while True:
            await self.inner.send_command(*words)
            reply = await self.inner.read_response(disable_decoding=True)
            try:
                words = walk.send(reply)
            except StopIteration as done:
                return done.value


class Parser:
    """A connection's parser, that tells a push handler of channels without prefixes."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Wrapped) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection.inner._parser, name)

    def set_pubsub_push_handler(self, handler: Callable[[Any], Any]) -> None:
        connection = self._connection
        parser = connection.inner._parser
        session = connection._session
        own = parser.pubsub_push_handler_func
        # What is pushed otherwise has to be awaited with asyncio, and here too.
        asynchronous = isinstance(connection, AsyncConnection)

        def told(event: Any) -> Any:
            event = session.told(event)
            if event is not None:
                return handler(event)
            return _nothing() if asynchronous else None

        parser.set_pubsub_push_handler(told)
        connection._own_push_handler = connection._own_push_handler or own


async def _nothing() -> None:
    pass


def _deadline(options: dict[str, Any]) -> float | None:
    timeout = options.get("timeout")
    if isinstance(timeout, (int, float)) and timeout != math.inf:
        return monotonic() + timeout
    return None
