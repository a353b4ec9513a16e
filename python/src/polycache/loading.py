"""Loading what was missed, in threads: of all callers of a key one runs its loader.

The rules are those of spec/semantics.md, "get_or_set". `_native.Load` is one caller's part in a
load: it knows which callers join it, and asks the tiers of the cache. This module does what only
Python can do.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic, sleep
from types import CoroutineType
from typing import Any, Protocol
from weakref import ReferenceType, ref

from . import _native
from .errors import InvalidArgument
from .lifetime import LoadTtl, after_load
from .missing import MISSING
from .observers import Observers, Watch

POLL = 1.0
"""Seconds between two checks whether the event loop of another's load is closed: closing it wakes
no caller."""

inside: ContextVar[tuple[ReferenceType[_native.Load], ...]] = ContextVar("inside", default=())
"""The loads that the current code is part of, outermost first. Tasks that a loader starts inherit
it. Weak, because such a task may outlive the load."""

os.register_at_fork(after_in_child=_native.forked)


class Loads(Protocol):
    """A cache, as its loads see it."""

    @property
    def _wait_timeout(self) -> float: ...
    @property
    def _observers(self) -> Observers: ...
    def _begin(self, key: Any, task: Any, waited: float) -> _native.Load: ...
    def _give_up(self) -> None: ...


def load(
    cache: Loads, key: Any, loader: Callable[[], Any], ttl: LoadTtl, lenient: bool = False
) -> Any:
    """The key's value: another caller's as soon as it is there, else the loader's.

    `lenient` is for functions memoized in memory: a nested call with equal arguments runs the
    function, and a value that is too large is not reported.
    """
    check_loader(loader)
    watch = Watch(listeners) if (listeners := cache._observers.listeners) else None
    if watch is not None:
        loader = watch.around(loader)
    part = cache._begin(key, None, 0.0)
    try:
        began = 0.0
        while not part.mine:
            began = began or monotonic()
            with joining(part, None, lenient) as loads_alone:
                if loads_alone:
                    return checked(loader())
                if watch is not None:
                    watch.waits()
                value = wait(part, began + cache._wait_timeout - monotonic())
            if value is not MISSING:
                return value
            part = again(cache, key, None, monotonic() - began)
        try:
            while (step := part.step()) is not None:
                if isinstance(step, tuple):
                    return step[0]
                if watch is not None:
                    watch.waits()
                sleep(step)
            token = inside.set((*inside.get(), ref(part)))
            try:
                # Filling runs code of the load as well: `encode` and `decode` of registered types.
                loaded = checked(loader())
                return part.fill(loaded, after_load(ttl, loaded), not lenient)
            finally:
                inside.reset(token)
        except Exception as error:
            part.fail(error)
            raise
        except BaseException:
            part.abandon()
            raise
    finally:
        if watch is not None:
            watch.waited()


def again(cache: Loads, key: Any, task: Any, waited: float) -> _native.Load:
    """The next load to join, or the caller's own. Raises `WaitTimeout`."""
    if waited >= cache._wait_timeout:
        cache._give_up()
    return cache._begin(key, task, waited)


@contextmanager
def joining(part: _native.Load, caller: Any, lenient: bool) -> Iterator[bool]:
    """Around waiting for a load; gives True when that load would wait for the caller in turn. Then
    the caller loads alone."""
    is_own = part.is_run_by(caller)
    if is_own and not lenient:
        raise InvalidArgument("the loader of a key asks for the same key")
    ours = [one for weak in inside.get() if (one := weak()) is not None]
    try:
        yield part.await_by(ours) or is_own or part.is_blocked_by(caller)
    finally:
        part.await_no_more(ours)


def patience(part: _native.Load, left: float, event_loop: Any) -> float:
    """Seconds to wait until the next look."""
    seconds = min(left, part.patience)
    return max(min(seconds, POLL) if part.is_elsewhere(event_loop) else seconds, 0)


def check_loader(loader: object) -> None:
    """Raises `InvalidArgument` for what cannot be called. A hit does not ask: that takes time."""
    if not callable(loader):
        raise InvalidArgument(f"a loader is a function, not {type(loader).__qualname__}")


def checked(loaded: Any) -> Any:
    """What a loader of synchronous code returned. Raises `InvalidArgument` for a coroutine."""
    if type(loaded) is CoroutineType:
        loaded.close()
        raise InvalidArgument(
            "the loader returned a coroutine, not a value: use AsyncCache, in a MemoryCache "
            "`await get_or_set_async(...)`, or a loader that is not an `async def`"
        )
    return loaded


def wait(part: _native.Load, left: float) -> Any:
    """Blocks until the load is over, or the bound is reached: its value, or MISSING."""
    wait_for_any([part], patience(part, left, None))
    return part.answer()


def wait_for_any(parts: list[_native.Load], seconds: float) -> None:
    """Blocks until one of the loads is over, so many seconds at most."""
    over = threading.Event()
    with waking(parts, over.set) as sleeps:
        if sleeps:
            over.wait(seconds)


@contextmanager
def waking(parts: list[_native.Load], wake: Callable[[], object]) -> Iterator[bool]:
    """Around waiting until one of the loads is over, which calls `wake`; gives False when one is
    already."""
    listed: list[_native.Load] = []
    try:
        for part in parts:
            listed.append(part)
            if not part.wake(wake):
                yield False
                return
        yield True
    finally:
        for part in listed:
            part.let_sleep(wake)
