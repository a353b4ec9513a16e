"""The short way of pipelines and transactions, as `short` has it for single commands: when all of
their commands are usual ones, redis-py sends them on a connection of the client that the namespace
was made from. Others go the whole way, on connections of ours."""

from collections.abc import Callable, Sequence
from typing import Any

from redis import client as synchronous
from redis.asyncio import client as asynchronous

from .session import Rewriter

Stack = list[tuple[Sequence[Any], dict[str, Any]]]


class Usual:
    """What is the same with and without asyncio."""

    command_stack: Any
    connection: Any
    connection_pool: Any
    scripts: Any
    watching: bool

    # Of the client that the namespace was made from, and what the user called while its commands
    # are on their way there.
    _bare: Any
    _rewriter: Rewriter
    _said: Stack | None = None

    def _with_prefixes(self, stack: Stack) -> Stack | None:
        """The commands with prefixes; None where the short way cannot be gone."""
        # WATCH had a connection of ours, and scripts are looked for with commands of their own.
        if self.connection or self.watching or self.scripts:
            return None
        plain = self._rewriter.plain
        prefixed: Stack = []
        for args, options in stack:
            words = plain(args)
            if words is None:
                return None
            prefixed.append((words, options))
        return prefixed

    # A pipeline that got no connection keeps its commands, and may be executed again.
    def _restore(self, pool: Any, prefixed: Stack) -> None:
        if self.command_stack is prefixed:
            self.command_stack = self._said
        self.connection_pool, self._said = pool, None

    # An error names the user's own words.
    def annotate_exception(self, exception: Any, number: int, command: Any) -> None:
        if self._said is not None:
            command = self._said[number - 1][0]
        super().annotate_exception(exception, number, command)  # type: ignore[misc]


class SyncPipeline(Usual, synchronous.Pipeline):
    def execute(self, raise_on_error: bool = True) -> Any:
        stack: Any = self.command_stack
        try:
            prefixed = self._with_prefixes(stack)
        except BaseException:
            self.reset()
            raise
        if prefixed is None:
            return super().execute(raise_on_error)
        ours, self.connection_pool = self.connection_pool, self._bare
        self._said = stack
        self.command_stack = prefixed
        try:
            return super().execute(raise_on_error)
        finally:
            self._restore(ours, prefixed)


class AsyncPipeline(Usual, asynchronous.Pipeline):  # type: ignore[misc]
    async def execute(self, raise_on_error: bool = True) -> Any:
        stack: Any = self.command_stack
        try:
            prefixed = self._with_prefixes(stack)
        except BaseException:
            await self.reset()  # type: ignore[no-untyped-call]
            raise
        if prefixed is None:
            return await super().execute(raise_on_error)
        ours, self.connection_pool = self.connection_pool, self._bare
        self._said = stack
        self.command_stack = prefixed
        try:
            return await super().execute(raise_on_error)
        finally:
            self._restore(ours, prefixed)


def pipelines(made: Any, bare: Any, rewriter: Rewriter) -> Callable[..., Any]:
    """`pipeline` of a client in a namespace; `bare` is the pool of the one it was made from."""
    kind = AsyncPipeline if getattr(made, "initialize", None) else SyncPipeline
    # Not `made` itself, which would never be forgotten then.
    ours, callbacks = made.connection_pool, made.response_callbacks

    def pipeline(transaction: bool = True, shard_hint: str | None = None) -> Any:
        pipe: Any = kind(ours, callbacks, transaction, shard_hint)
        pipe._bare, pipe._rewriter = bare, rewriter
        return pipe

    return pipeline
