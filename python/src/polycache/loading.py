"""Loading a missing value, blocking: one loader per key on the whole host."""

from collections.abc import Callable
from time import sleep
from typing import TypeVar

from . import _native
from .backoff import Backoff
from .coroutines import refuse_coroutine as _value
from .durations import Duration
from .missing import Missing

T = TypeVar("T")


def load(
    cache: _native.Cache, key: str | bytes, loader: Callable[[], T], ttl: Duration | Missing | None
) -> T:
    """The key's value: another caller's as soon as it is there, else the loader's."""
    backoff = Backoff()
    while isinstance(answer := cache._lease(key), _native.Busy):
        sleep(backoff.seconds())
    if isinstance(answer, _native.Hit):
        value: T = answer.value
        return value
    if answer is None:
        # No room for a lease: too many loads of other keys. This one is not stored.
        return _value(loader())
    try:
        value = _value(loader())
        # A set, delete or clear during the load wins: then the value is this caller's alone.
        answer.fill(value, ttl=ttl)
        return value
    finally:
        answer.release()
