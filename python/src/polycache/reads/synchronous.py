"""Cached reads of a `redis.Redis`."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from redis.exceptions import RedisError

from .. import _native
from ..http.representation import Representation
from .kept import handed_out
from .landed import Landed
from .reads import PATIENCE, Read, Reads, refused
from .stats import ReadStats


class _Flight:
    """A read under way, which other threads wait for."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.done = threading.Event()
        self.landed: Landed | None = None
        self.error: RedisError | None = None


class CachedReads:
    """See `polycache.reads.cached`."""

    def __init__(self, client: Any, options: dict[str, Any]) -> None:
        self._reads = Reads(client, options)
        self._json = Json(self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        reads = self._reads
        if not reads.method(name):

            def refuse(*args: Any, **options: Any) -> Any:
                raise refused(name)

            return refuse
        kept, stats = reads.kept, reads.stats

        def method(*args: Any, **options: Any) -> Any:
            call = reads.call(name, args, options)
            if call is not None and (found := kept.get(call)) is not None:
                stats.memory_hits += 1
                return handed_out(found[0])
            return handed_out(self._landed(call, name, args, options).kept)

        method.__name__ = name
        self.__dict__[name] = method
        return method

    @property
    def json(self) -> "Json":
        """The same methods; each gives the JSON of the reply as bytes, encoded once for each
        change."""
        return self._json

    def forget(self, *keys: str | bytes) -> None:
        """Has reads of these keys read anew on this host: for what the program has just written."""
        self._reads.forget(keys)

    def stats(self) -> ReadStats:
        """What these reads did."""
        return self._reads.told()

    def close(self) -> None:
        """Ends them, and the cache that was opened for them. The client stays open."""
        self._reads.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _landed(
        self, call: object | None, method: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Landed:
        reads = self._reads
        if call is None:
            read = reads.read(None, method, args, options)
            call = read.name
            if (found := reads.kept.get(call)) is not None:
                reads.stats.memory_hits += 1
                return Landed(found[0], None, read.plan.is_document)
        with reads.lock:
            flight = reads.flights.get(call)
            joins = flight is not None and time.monotonic() - flight.began < reads.joins_within
            if flight is None or not joins:
                flight = reads.flights[call] = _Flight()
            else:
                reads.stats.joined += 1
        if not joins:
            return self._fly(flight, call, method, args, options)
        flight.done.wait(PATIENCE)
        if flight.error is not None:
            raise flight.error
        # Its connection may be dead, and another one not; or its thread was interrupted.
        return flight.landed or self._read(reads.read(call, method, args, options))

    def _fly(
        self,
        flight: _Flight,
        call: object,
        method: str,
        args: tuple[Any, ...],
        options: dict[str, Any],
    ) -> Landed:
        reads = self._reads
        try:
            flight.landed = self._read(reads.read(call, method, args, options))
            return flight.landed
        except RedisError as error:
            # Any other may be the thread's own: of a time limit that is raised in it.
            flight.error = error
            raise
        finally:
            with reads.lock:
                if reads.flights.get(call) is flight:
                    del reads.flights[call]
            flight.done.set()

    def _read(self, read: Read) -> Landed:
        reads = self._reads
        native = reads.native
        if not reads.may_keep(read, knows=native.is_known() or native.know()):
            # Where the server does not answer the cache, what it tells the client is the client's.
            pipe, sent = reads.pipeline(read, None)
            reply = pipe.execute(raise_on_error=False)[sent.before]
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
                return self._ask(read, begun)
            if begun is not None:
                time.sleep(begun)

    def _ask(self, read: Read, ticket: _native.ReadTicket) -> Landed:
        reads = self._reads
        try:
            pipe, sent = reads.pipeline(read, ticket)
            replies = pipe.execute(raise_on_error=False)
        except BaseException:
            reads.native.fail(read.name, read.keys, ticket)
            raise
        return reads.ended(read, ticket, sent, replies)


class Json:
    """The methods of cached reads, which give a `polycache.http.Representation`."""

    def __init__(self, outer: CachedReads) -> None:
        self._outer = outer

    def __getattr__(self, name: str) -> Callable[..., Representation]:
        outer, reads = self._outer, self._outer._reads
        if not reads.method(name):
            refuse: Any = getattr(outer, name)
            return refuse  # type: ignore[no-any-return]

        def method(*args: Any, **options: Any) -> Representation:
            call = reads.call(name, args, options)
            if call is not None and (found := reads.kept.get(("json", call))) is not None:
                reads.stats.memory_hits += 1
                made: Representation = found[0]
                return made
            landed = outer._landed(call, name, args, options)
            return reads.represented(call, landed)

        method.__name__ = name
        self.__dict__[name] = method
        return method
