"""Calls that may wait for a server, made beside the event loop."""

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


async def aside(cache: Any, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The result of a call: in place for a cache of this machine, which takes a microsecond, and in
    a thread for one whose calls may wait for a server."""
    if getattr(cache, "_is_remote", False):
        return await asyncio.to_thread(call, *args, **kwargs)
    return call(*args, **kwargs)
