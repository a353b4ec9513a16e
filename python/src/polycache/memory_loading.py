"""Loading what a `MemoryCache` misses: one loader per key, among threads and coroutines."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from . import _native
from .durations import Duration
from .errors import InvalidArgument
from .missing import MISSING, Missing

Ttl = Duration | Missing | None


class Flight:
    """A load under way. Who waits for it is given its value."""

    __slots__ = ("_lock", "_over", "_waiting", "hash", "key", "load", "runner", "value")

    def __init__(self, load: _native.Load, key: Any, runner: object) -> None:
        self.key = key
        self.hash = hash(key)
        self.load = load
        self.runner = runner
        self.value: Any = MISSING
        self._lock = threading.Lock()
        self._over = False
        self._waiting: list[Callable[[], object]] = []

    def end(self, value: Any) -> None:
        """Wakes those who wait: with a value, or MISSING when there is none."""
        with self._lock:
            self.value = value
            self._over = True
            waiting, self._waiting = self._waiting, []
        for wake in waiting:
            wake()

    def wait(self) -> Any:
        """Blocks until it is over."""
        over = threading.Event()
        if self._call(over.set):
            over.wait()
        return self.value

    async def wait_async(self) -> Any:
        """Waits until it is over, in whichever thread or loop it runs."""
        loop = asyncio.get_running_loop()
        over = loop.create_future()

        def done() -> None:
            if not over.done():
                over.set_result(None)

        def wake() -> None:
            # Nobody waits any more in a loop that was closed.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(done)

        if self._call(wake):
            try:
                await over
            finally:
                with self._lock:
                    if wake in self._waiting:
                        self._waiting.remove(wake)
        return self.value

    def _call(self, wake: Callable[[], object]) -> bool:
        """Lists who is to be woken; False when it is over already."""
        with self._lock:
            if not self._over:
                self._waiting.append(wake)
            return not self._over


class Loads:
    """The loads under way of a cache, by their keys."""

    __slots__ = ("_flights",)

    def __init__(self) -> None:
        # Compared and swapped, for no lock may be held while keys are compared.
        self._flights = _native.FlightTable()

    def __len__(self) -> int:
        return len(self._flights)

    def find(self, key: Any) -> Flight | None:
        """The key's load under way, which may be voided."""
        return _among(self._flights.get(hash(key)), key)

    def join_or_begin(
        self, cache: "_native.MemoryCache[Any, Any]", key: Any, runner: object
    ) -> tuple[Flight, bool]:
        """A load of the key that stands, or the caller's own, which is True then."""
        mine = Flight(cache._begin(key), key, runner)
        while True:
            listed = self._flights.get(mine.hash)
            flight = _among(listed, key)
            if flight is not None and not flight.load.voided:
                cache._end(mine.load)
                return flight, False
            # A caller that begins after a set, delete or clear is not given a value from before.
            others = tuple(one for one in listed or () if one is not flight)
            if self._flights.swap(mine.hash, listed, (*others, mine)):
                return mine, True

    @contextmanager
    def running(
        self, cache: "_native.MemoryCache[Any, Any]", flight: Flight
    ) -> Iterator[list[Any]]:
        """Around a load of the caller's own, which puts its value into the list."""
        loaded: list[Any] = []
        try:
            yield loaded
        finally:
            cache._end(flight.load)
            self._leave(flight)
            flight.end(loaded[0] if loaded else MISSING)

    def _leave(self, flight: Flight) -> None:
        """Takes the flight off the list, if no other has taken its place."""
        while flight in (listed := self._flights.get(flight.hash) or ()):
            others = tuple(one for one in listed if one is not flight)
            self._flights.swap(flight.hash, listed, others or None)


def _among(listed: tuple[Flight, ...] | None, key: Any) -> Flight | None:
    """The key's flight, keys being compared as in a dict."""
    for flight in listed or ():
        if flight.key is key or flight.key == key:
            return flight
    return None


def load(
    cache: "_native.MemoryCache[Any, Any]",
    loads: Loads,
    key: Any,
    loader: Callable[[], Any],
    ttl: Ttl,
) -> Any:
    """The key's value: another caller's as soon as it is there, else the loader's."""
    me = threading.get_ident()
    while True:
        flight, is_mine = loads.join_or_begin(cache, key, me)
        if is_mine:
            with loads.running(cache, flight) as loaded:
                # It may have come between the first look and the beginning of the load.
                value = cache.peek(key, MISSING)
                if value is MISSING:
                    value = loader()
                    cache._fill(flight.load, key, value, ttl)
                loaded.append(value)
            return value
        if flight.runner == me:
            raise InvalidArgument("the loader of a key asks for the same key")
        value = flight.wait()
        if value is not MISSING:
            return cache._own(value)


async def load_async(
    cache: "_native.MemoryCache[Any, Any]",
    loads: Loads,
    key: Any,
    loader: Callable[[], Awaitable[Any]],
    ttl: Ttl,
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
                    cache._fill(flight.load, key, value, ttl)
                loaded.append(value)
            return value
        if flight.runner is me:
            raise InvalidArgument("the loader of a key asks for the same key")
        value = await flight.wait_async()
        if value is not MISSING:
            return cache._own(value)
