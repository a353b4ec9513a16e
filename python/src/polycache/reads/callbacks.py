"""What redis-py makes of replies by callbacks, after all replies were read.

A pipeline of redis-py reads no further when a callback raises: what is left would be read by
whoever has the connection next, as replies of other commands.
"""

import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from redis.exceptions import RedisError

Callback = Callable[..., Any]


class Taken(NamedTuple):
    """A reply before its callback."""

    reply: Any
    options: dict[str, Any]


def take(reply: Any, **options: Any) -> Taken:
    """Stands in for a callback."""
    return Taken(reply, options)


def parsed(taken: Any, undo: Callable[[Any], Any] | None, callback: Callback | None) -> Any:
    """What the client would have made of it.

    taken: or an error, or what a method says an empty reply is: those have no callback.
    undo: takes prefixes of namespaces off.
    """
    if type(taken) is not Taken:
        return taken
    reply = taken.reply if undo is None else undo(taken.reply)
    return reply if callback is None else callback(reply, **taken.options)


class Piped:
    """The commands of one read, in a pipeline of a client.

    before: how many questions go before the read.
    """

    def __init__(
        self,
        pipe: Any,
        before: int,
        undo: Callable[[Any], Any] | None,
        callback: Callback | None,
    ) -> None:
        self._pipe = pipe
        self._before = before
        self._undo = undo
        self._callback = callback
        self._sent = 0
        pipe.response_callbacks = {}

    def execute_command(self, *words: Any, **options: Any) -> None:
        if self._sent == self._before:
            self._pipe.response_callbacks = {words[0]: take}
        self._sent += 1
        self._pipe.execute_command(*words, **options)

    def execute(self, raise_on_error: bool) -> list[Any]:
        self._pipe.connection_pool = _Lending(self._pipe.connection_pool)
        replies: list[Any] = self._pipe.execute(raise_on_error=raise_on_error)
        replies[self._before] = self._parsed(replies)
        return replies

    def _parsed(self, replies: list[Any]) -> Any:
        return parsed(replies[self._before], self._undo, self._callback)


class _Lending:
    """A client's pool, for one pipeline. A thread may be interrupted between two replies, by a
    limit of time that a signal's handler raises: redis-py would give the connection back with what
    was not read, for the next command to take as its own reply."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._before = sys.exc_info()[1]
        """What the caller handles: it is none of ours."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def release(self, connection: Any) -> None:
        error = sys.exc_info()[1]
        if error is not self._before and not isinstance(error, (RedisError, type(None))):
            connection.disconnect()
        self._pool.release(connection)


class AsyncPiped(Piped):
    async def execute(self, raise_on_error: bool) -> list[Any]:  # type: ignore[override]
        replies: list[Any] = await self._pipe.execute(raise_on_error=raise_on_error)
        reply = self._parsed(replies)
        replies[self._before] = await reply if inspect.isawaitable(reply) else reply
        return replies
