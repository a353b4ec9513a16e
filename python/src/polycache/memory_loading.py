"""Loading what a `MemoryCache` misses: one loader per key, among threads and coroutines."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from . import _native
from .coroutines import refuse_coroutine as _value
from .durations import Duration
from .errors import InvalidArgument
from .memory_flights import Flight, Loads, waiting
from .missing import MISSING, Missing

Ttl = Duration | Missing | None


def load(
    cache: "_native.MemoryCache[Any, Any]",
    loads: Loads,
    key: Any,
    loader: Callable[[], Any],
    ttl: Ttl,
    lenient: bool = False,
) -> Any:
    """The key's value: another caller's as soon as it is there, else the loader's.

    `lenient` is for functions that are memoized: a value that can't be stored is returned all the
    same, and a call with equal arguments within a call runs the function.
    """
    while True:
        flight, is_mine = loads.join_or_begin(cache, key, None)
        if is_mine:
            with loads.running(cache, flight) as loaded:
                # It may have come between the first look and the beginning of the load.
                value = cache.peek(key, MISSING)
                if value is MISSING:
                    value = _value(loader())
                    _store(cache, flight, key, value, ttl, lenient)
                loaded.append(value)
            return value
        with waiting(flight) as in_a_circle:
            if not lenient and flight.is_run_by(None):
                raise _own_key()
            if in_a_circle or flight.is_run_by(None) or flight.would_block(None):
                return _value(loader())
            value = flight.wait()
        if value is not MISSING:
            return cache._own(value)


async def load_async(
    cache: "_native.MemoryCache[Any, Any]",
    loads: Loads,
    key: Any,
    loader: Callable[[], Awaitable[Any]],
    ttl: Ttl,
    lenient: bool = False,
) -> Any:
    """As `load`, without blocking the event loop."""
    me = asyncio.current_task()
    while True:
        flight, is_mine = loads.join_or_begin(cache, key, me)
        if is_mine:
            with loads.running(cache, flight) as loaded:
                value = cache.peek(key, MISSING)
                if value is MISSING:
                    value = await loader()
                    _store(cache, flight, key, value, ttl, lenient)
                loaded.append(value)
            return value
        with waiting(flight) as in_a_circle:
            if not lenient and flight.is_run_by(me):
                raise _own_key()
            if in_a_circle or flight.is_run_by(me):
                return await loader()
            value = await flight.wait_async()
        if value is not MISSING:
            return cache._own(value)


def _store(
    cache: "_native.MemoryCache[Any, Any]",
    flight: Flight,
    key: Any,
    value: Any,
    ttl: Ttl,
    lenient: bool,
) -> None:
    try:
        cache._fill(flight.load, key, value, ttl)
    except ValueError:
        # Too large, for one.
        if not lenient:
            raise


def _own_key() -> InvalidArgument:
    return InvalidArgument("the loader of a key asks for the same key")
