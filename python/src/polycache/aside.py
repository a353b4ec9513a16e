"""Calls that may wait for a server or a disk, made beside the event loop."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


async def aside(cache: Any, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The result of a call: in place for a cache of this machine, which takes a microsecond, and in
    a thread for one whose calls may wait for a server, or for another library's store."""
    if getattr(cache, "_waits", False):
        import asyncio  # Only here: a program without an event loop need not load it.

        return await asyncio.to_thread(call, *args, **kwargs)
    return call(*args, **kwargs)
