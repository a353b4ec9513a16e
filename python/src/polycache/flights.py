"""Coroutines that wait for one load: one of them polls, and the others wait for that one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeAlias

from . import _native
from .backoff import Backoff

Flight: TypeAlias = tuple[int, int]
"""A load: the place and the word of its lease. It may be another key's, because leases match by a
part of the hash: then waiting for it is right as well, and its value goes to nobody else."""
_Board: TypeAlias = dict[tuple[asyncio.AbstractEventLoop, Flight], asyncio.Event]
Answer: TypeAlias = _native.Hit | _native.Lease | _native.Busy | None


class Flights:
    """The loads that the coroutines of a cache run and wait for.

    Who waits never takes another's object or failure: it asks the cache again when the load has
    ended. So a delete during the load is seen, and cancelling one coroutine cancels no other.
    """

    def __init__(self, cache: _native.Cache) -> None:
        self.cache = cache
        # Loads that run in this process, and loads that a coroutine of this process polls for.
        # The loop belongs to the key: an Event can be waited for in its own loop only.
        self._running: _Board = {}
        self._polled: _Board = {}

    @contextmanager
    def running(self, flight: Flight) -> Iterator[None]:
        """Around a load: when it ends, those who wait for it are woken."""
        with _posted(self._running, flight):
            yield

    async def wait(self, key: str | bytes, flight: Flight) -> Answer:
        """Waits until this load has ended or was voided, and asks again."""
        polled = self._polled.get((asyncio.get_running_loop(), flight))
        if polled is not None:
            await polled.wait()
            return self.cache._lease(key)
        # When this one is cancelled the others are woken, and the first of them polls.
        with _posted(self._polled, flight):
            return await self._poll(key, flight)

    async def _poll(self, key: str | bytes, flight: Flight) -> Answer:
        running = self._running.get((asyncio.get_running_loop(), flight))
        backoff = Backoff()
        while True:
            if running is None or running.is_set():
                await asyncio.sleep(backoff.seconds())
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(backoff.seconds()):
                        await running.wait()
            answer = self.cache._lease(key)
            if not isinstance(answer, _native.Busy) or answer.flight != flight:
                return answer


@contextmanager
def _posted(board: _Board, flight: Flight) -> Iterator[None]:
    place = asyncio.get_running_loop(), flight
    ended = board[place] = asyncio.Event()
    try:
        yield
    finally:
        # Another may have taken the place, when the lease timed out and the load went on.
        if board.get(place) is ended:
            del board[place]
        ended.set()
