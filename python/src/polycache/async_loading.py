"""Loading a missing value, for asyncio: one loader per key on the whole host."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from . import _native
from .durations import Duration
from .flights import Flights
from .missing import Missing

T = TypeVar("T")


async def load(
    flights: Flights,
    key: str | bytes,
    loader: Callable[[], Awaitable[T]],
    ttl: Duration | Missing | None,
) -> T:
    """The key's value: another caller's as soon as it is there, else the loader's."""
    answer = flights.cache._lease(key)
    while isinstance(answer, _native.Busy):
        answer = await flights.wait(key, answer.flight)
    if isinstance(answer, _native.Hit):
        return cast(T, answer.value)
    if answer is None:
        # No room for a lease: too many loads of other keys. This one is not stored.
        return await loader()
    with flights.running(answer.flight):
        try:
            value = await loader()
            # A set, delete or clear during the load wins: then the value is this caller's alone.
            answer.fill(value, ttl=ttl)
            return value
        finally:
            answer.release()
