"""Loads under way of a `MemoryCache`, and who waits for whom."""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from weakref import ReferenceType, ref

from . import _native
from .missing import MISSING

POLL = 0.25
"""Seconds between two looks at whether the event loop of somebody else's load is closed: that wakes
nobody."""

_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_forked)

# The loads that the code at hand is part of, outermost first. Tasks that a loader starts inherit
# it. Weak: such a task may outlive the load.
_inside: ContextVar["tuple[ReferenceType[Flight], ...]"] = ContextVar("_inside", default=())


class Flight:
    """A load under way. Callers that wait get its value, or are told to look again."""

    __slots__ = (
        "__weakref__",
        "_forks",
        "_loop",
        "_over",
        "_task",
        "_thread",
        "_waiting",
        "awaited",
        "hash",
        "key",
        "load",
        "value",
    )

    def __init__(
        self,
        cache: "_native.MemoryCache[Any, Any]",
        key: Any,
        task: "asyncio.Task[Any] | None",
    ) -> None:
        self.key = key
        self.hash = hash(key)
        self.value: Any = MISSING
        self.awaited: list[Flight] = []
        """Other loads that code of this one waits for."""
        self._thread = threading.get_ident()
        self._forks = _forks
        # Weak: what nobody else refers to is never resumed, and ends when it is collected.
        self._task = None if task is None else ref(task)
        self._loop = None if task is None else ref(task.get_loop())
        self._over = False
        self._waiting: deque[Callable[[], object]] = deque()
        # A set, delete or clear voids it; then those who wait look again.
        self.load = cache._begin(key, self.end)

    def end(self, value: Any = MISSING) -> None:
        """Wakes those who wait: with a value, or MISSING when there is none."""
        if self._over:
            return
        self.value = value
        self._over = True
        # Without a lock, which a child that is forked could find taken for ever.
        while True:
            try:
                wake = self._waiting.popleft()
            except IndexError:
                return
            wake()

    @property
    def over(self) -> bool:
        """True when nobody waits for it any more."""
        return self._over

    def is_run_by(self, task: "asyncio.Task[Any] | None") -> bool:
        """True of the load that this thread, or this task, runs itself."""
        if task is not None:
            return self._task is not None and self._task() is task
        return self._task is None and self._thread == threading.get_ident()

    def is_abandoned(self) -> bool:
        """True when it can't end: its event loop was closed, or its thread stayed with the parent
        of this process."""
        if self._loop is not None:
            loop = self._loop()
            if loop is None or loop.is_closed():
                return True
        # The thread that forks is the child's main thread.
        return self._forks != _forks and self._thread != threading.main_thread().ident

    def would_block(self, loop: asyncio.AbstractEventLoop | None) -> bool:
        """True when a caller in this loop, or without one, would keep the load's task from going on
        by waiting for it."""
        if loop is not None or self._loop is None:
            return False
        return self._thread == threading.get_ident()

    def wait(self) -> Any:
        """Blocks until it is over: its value, or MISSING."""
        over = threading.Event()
        if self._call(over.set):
            patience = None if self._loop is None else POLL
            while not over.wait(patience):
                if self.is_abandoned():
                    return MISSING
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

        if not self._call(wake):
            return self.value
        try:
            if self._loop is None or self._loop() is loop:
                await over
            else:
                while not (await asyncio.wait((over,), timeout=POLL))[0]:
                    if self.is_abandoned():
                        return MISSING
        finally:
            with suppress(ValueError):
                self._waiting.remove(wake)
        return self.value

    def _call(self, wake: Callable[[], object]) -> bool:
        """Lists who is to be woken; False when it is over already."""
        # In this order: who is listed too late sees that it is over.
        self._waiting.append(wake)
        return not self._over


@contextmanager
def waiting(flight: Flight) -> Iterator[bool]:
    """Around waiting for a load; gives True when that load waits for the caller in turn.

    Each who waits lists that first and looks afterwards, so of those in a circle the last one sees
    it.
    """
    ours = [one for weak in _inside.get() if (one := weak()) is not None and not one.over]
    for one in ours:
        one.awaited.append(flight)
    try:
        yield bool(ours) and _leads_to(flight, ours)
    finally:
        for one in ours:
            one.awaited.remove(flight)


def _leads_to(flight: Flight, ours: list[Flight]) -> bool:
    seen: list[Flight] = []
    ahead = [flight]
    while ahead:
        one = ahead.pop()
        if any(one is other for other in ours):
            return True
        if not any(one is other for other in seen):
            seen.append(one)
            ahead.extend(one.awaited)
    return False


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
        self,
        cache: "_native.MemoryCache[Any, Any]",
        key: Any,
        task: "asyncio.Task[Any] | None",
    ) -> tuple[Flight, bool]:
        """A load of the key that stands, or the caller's own, which is True then."""
        mine: Flight | None = None
        own_hash = hash(key)
        while True:
            listed = self._flights.get(own_hash)
            flight = _among(listed, key)
            if flight is not None and flight.is_abandoned():
                cache._end(flight.load)
                flight.end()
            elif flight is not None and not flight.load.voided:
                if mine is not None:
                    cache._end(mine.load)
                return flight, False
            # A caller that begins after a set, delete or clear is not given a value from before.
            others = tuple(one for one in listed or () if one is not flight)
            if mine is None:
                mine = Flight(cache, key, task)
            if self._flights.swap(own_hash, listed, (*others, mine)):
                return mine, True

    @contextmanager
    def running(
        self, cache: "_native.MemoryCache[Any, Any]", flight: Flight
    ) -> Iterator[list[Any]]:
        """Around a load of the caller's own, which puts its value into the list."""
        loaded: list[Any] = []
        # What the loader calls is part of the load.
        token = _inside.set((*_inside.get(), ref(flight)))
        try:
            yield loaded
        finally:
            # A coroutine that is collected ends in another context.
            with suppress(ValueError):
                _inside.reset(token)
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
