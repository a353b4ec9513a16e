"""Cached reads of a `redis.asyncio.Redis`."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

from .. import _native
from ..http.representation import Representation
from .kept import handed_out
from .landed import Landed
from .reads import PATIENCE, Read, Reads, refused
from .stats import ReadStats


class _Flight:
    """A read under way, which other tasks of its event loop wait for."""

    def __init__(self, task: "asyncio.Task[Landed]", loop: asyncio.AbstractEventLoop) -> None:
        self.began = time.monotonic()
        self.task = task
        self.loop = loop
        self.waiting = 0


class AsyncCachedReads:
    """See `polycache.reads.cached`."""

    def __init__(self, client: Any, options: dict[str, Any]) -> None:
        self._reads = Reads(client, options)
        self._json = AsyncJson(self)

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        reads = self._reads
        if not reads.method(name):

            async def refuse(*args: Any, **options: Any) -> Any:
                raise refused(name)

            return refuse
        kept, stats = reads.kept, reads.stats

        async def method(*args: Any, **options: Any) -> Any:
            call = reads.call(name, args, options)
            if call is not None and (found := kept.get(call)) is not None:
                stats.memory_hits += 1
                return handed_out(found[0])
            return handed_out((await self._landed(call, name, args, options)).kept)

        method.__name__ = name
        self.__dict__[name] = method
        return method

    @property
    def json(self) -> "AsyncJson":
        """The same methods; each gives the JSON of the reply as bytes, encoded once for each
        change."""
        return self._json

    def forget(self, *keys: str | bytes) -> None:
        """Has reads of these keys read anew on this host: for what the program has just written."""
        self._reads.forget(keys)

    def stats(self) -> ReadStats:
        """What these reads did."""
        return self._reads.told()

    async def aclose(self) -> None:
        """Ends them, and the cache that was opened for them. The client stays open."""
        await asyncio.to_thread(self._reads.close)

    close = aclose

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _landed(
        self, call: object | None, method: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Landed:
        reads = self._reads
        read = None
        if call is None:
            read = reads.read(None, method, args, options)
            call = read.call
        loop = asyncio.get_running_loop()
        flight = reads.flights.get(call)
        if (
            flight is not None
            and flight.loop is loop
            and not flight.task.cancelled()
            and time.monotonic() - flight.began < reads.joins_within
        ):
            reads.stats.joined += 1
            landed = await self._wait(call, flight, PATIENCE)
            # Its connection may be dead, and another one not.
            return landed or await self._read(read or reads.read(call, method, args, options))
        read = read or reads.read(call, method, args, options)
        mine = reads.flights[call] = _Flight(loop.create_task(self._read(read)), loop)

        def ended(task: "asyncio.Task[Landed]") -> None:
            if reads.flights.get(call) is mine:
                del reads.flights[call]
            if not task.cancelled():
                # Those who waited may have been cancelled: then nobody wants its error.
                task.exception()

        mine.task.add_done_callback(ended)
        landed = await self._wait(call, mine, None)
        assert landed is not None
        return landed

    async def _wait(self, call: object, flight: _Flight, patience: float | None) -> Landed | None:
        """What a read under way brings; None where that takes too long.

        A caller that is cancelled does not end the read of the others. The last one does, as it
        would end the client's own: a read that nobody waits for would hold a connection until a
        server that is silent counts as gone.
        """
        task = flight.task
        flight.waiting += 1
        try:
            await asyncio.wait([task], timeout=patience)
        except asyncio.CancelledError:
            if self._leave(call, flight):
                # The caller may close the loop next.
                await asyncio.wait([task])
            raise
        if task.done():
            return task.result()
        self._leave(call, flight)
        return None

    def _leave(self, call: object, flight: _Flight) -> bool:
        """Whether that ends the read."""
        flight.waiting -= 1
        if flight.waiting or flight.task.done():
            return False
        flights = self._reads.flights
        if flights.get(call) is flight:
            del flights[call]
        return flight.task.cancel()

    async def _read(self, read: Read) -> Landed:
        reads = self._reads
        native = reads.native
        knows = native.is_known() or await asyncio.to_thread(native.know)
        if not reads.may_keep(read, knows=knows):
            # Where the server does not answer the cache, what it tells the client is the client's.
            pipe, sent = reads.pipeline(read, None)
            reply = (await pipe.execute(raise_on_error=False))[sent.before]
            if isinstance(reply, Exception):
                raise reply
            return reads.landed(read, reply)
        began = time.monotonic()
        while True:
            found = reads.near(read)
            if found is not None:
                reads.stats.host_hits += 1
                return reads.keep(read, *found)
            begun = native.begin(read.name, read.keys, time.monotonic() - began)
            if isinstance(begun, _native.ReadTicket):
                return await self._ask(read, begun)
            if begun is not None:
                await asyncio.sleep(begun)

    async def _ask(self, read: Read, ticket: _native.ReadTicket) -> Landed:
        reads = self._reads
        try:
            pipe, sent = reads.pipeline(read, ticket)
            replies = await pipe.execute(raise_on_error=False)
        except BaseException:
            reads.native.fail(read.name, read.keys, ticket)
            raise
        return reads.ended(read, ticket, sent, replies)


class AsyncJson:
    """The methods of cached reads, which give a `polycache.http.Representation`."""

    def __init__(self, outer: AsyncCachedReads) -> None:
        self._outer = outer

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Representation]]:
        outer, reads = self._outer, self._outer._reads
        if not reads.method(name):
            refuse: Any = getattr(outer, name)
            return refuse  # type: ignore[no-any-return]

        async def method(*args: Any, **options: Any) -> Representation:
            call = reads.call(name, args, options)
            if call is not None and (found := reads.kept.get(("json", call))) is not None:
                reads.stats.memory_hits += 1
                made: Representation = found[0]
                return made
            landed = await outer._landed(call, name, args, options)
            return reads.represented(call, landed)

        method.__name__ = name
        self.__dict__[name] = method
        return method
