"""The short way of most commands: their keys get the prefix, their reply stays as it is, and
nothing is to be remembered. So redis-py sends them on a connection of the client that the namespace
was made from, and nothing of ours stands between."""

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from .pipeline import pipelines
from .session import Rewriter, name_of

Send = Callable[..., Any]

# Methods of redis-py that carry a command out. A class that has its own gets no short way.
CARRY_OUT = (
    "_close_connection",
    "_execute_command",
    "_send_command_parse_response",
    "execute_command",
    "parse_response",
)

SHORTENED = (*CARRY_OUT, "pipeline")
"""What a client in a namespace may have of its own."""


def shorten(made: Any, client: Any, base: type[Any], rewriter: Rewriter) -> None:
    """Gives a client in a namespace the short way, if it can be had: with client-side caching every
    command has to pass our connection, and so it does where one connection is all that there is."""
    kind = type(made)
    pool = client.connection_pool
    alone = made.connection is not None or getattr(made, "single_connection_client", False)
    if alone or getattr(pool, "cache", None) is not None:
        return
    if any(getattr(kind, name, None) is not getattr(base, name, None) for name in CARRY_OUT):
        return
    bare, whole = copy(made), copy(made)
    bare.connection_pool = pool
    # redis-py 5 has only the one that a user may patch; the other is the same without that.
    name = "_execute_command" if hasattr(base, "_execute_command") else "execute_command"
    # Not of `made` itself, which would never be forgotten then. Its callbacks are theirs too.
    short = _asynchronous if getattr(base, "initialize", None) else _synchronous
    vars(made)[name] = short(
        getattr(bare, name), getattr(whole, name), rewriter, made.response_callbacks
    )
    if kind.pipeline is base.pipeline:
        vars(made)["pipeline"] = pipelines(made, pool, rewriter)


def _synchronous(bare: Send, whole: Send, rewriter: Rewriter, callbacks: Mapping[Any, Any]) -> Send:
    plain, stripped = rewriter.plain, rewriter.stripped

    # What is sent again, after a connection was lost, has its prefix, and gets no other.
    def execute(*args: Any, **options: Any) -> Any:
        words = plain(args)
        if words is not None:
            return bare(*words, **options)
        # A callback has to be given the reply without prefixes.
        if name_of(args) in callbacks or (found := stripped(args)) is None:
            return whole(*args, **options)
        words, take_off, prefix = found
        return take_off(bare(*words, **options), prefix)

    return execute


def _asynchronous(
    bare: Send, whole: Send, rewriter: Rewriter, callbacks: Mapping[Any, Any]
) -> Send:
    plain, stripped = rewriter.plain, rewriter.stripped

    async def execute(*args: Any, **options: Any) -> Any:
        words = plain(args)
        if words is not None:
            return await bare(*words, **options)
        if name_of(args) in callbacks or (found := stripped(args)) is None:
            return await whole(*args, **options)
        words, take_off, prefix = found
        return take_off(await bare(*words, **options), prefix)

    return execute
