"""Locks by the names of keys."""

from time import sleep
from types import TracebackType
from typing import Any, Self

from . import _native
from .aside import aside
from .durations import Duration
from .errors import WaitTimeout

_WAITED = "another has had this lease for as long as wait_timeout; try again later"


class Lease:
    """A lock by a key's name, for every process and language on the machine; without a path, for
    this process.

    It has nothing to do with the key's entry, or with loads of it. A caller that holds it keeps it
    until it is released, or its process dies. Any thread may release it. It is for adapters, like
    the mutex of a dogpile.cache backend:

        class Backend(CacheBackend):
            def get_mutex(self, key: str) -> Lease:
                return self.cache.lease(key)

    Under a great number of other leases it may be lost (`spec/semantics.md`): what it guards must
    stay right without it.
    """

    def __init__(self, lock: _native.Lock) -> None:
        self._lock = lock

    def acquire(self, wait: bool | Duration = True) -> bool:
        """True when the caller has the lease now.

        `wait` is True to wait for `wait_timeout` at most, False not to wait, or how long to wait.
        Raises `InvalidArgument` and `Closed`.
        """
        attempt = self._lock.attempt(wait)
        while not isinstance(step := attempt.step(), bool):
            sleep(step)
        return step

    def release(self) -> None:
        """Gives the lease back; does nothing if this object does not hold it."""
        self._lock.release()

    def locked(self) -> bool:
        """True while a caller holds it. Raises `Closed`."""
        return self._lock.locked()

    def __enter__(self) -> Self:
        """Acquires it; raises `WaitTimeout` after `wait_timeout`."""
        if not self.acquire():
            raise WaitTimeout(_WAITED)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


class AsyncLease:
    """`Lease` for asyncio: the same lock, to be awaited."""

    def __init__(self, lock: _native.Lock, cache: Any) -> None:
        self._lock = lock
        self._cache = cache

    async def acquire(self, wait: bool | Duration = True) -> bool:
        """See `Lease.acquire`."""
        import asyncio  # Only here: a program without an event loop need not load it.

        attempt = self._lock.attempt(wait)
        while not isinstance(step := await aside(self._cache, attempt.step), bool):
            await asyncio.sleep(step)
        return step

    async def release(self) -> None:
        """See `Lease.release`."""
        await aside(self._cache, self._lock.release)

    async def locked(self) -> bool:
        """See `Lease.locked`."""
        return await aside(self._cache, self._lock.locked)

    async def __aenter__(self) -> Self:
        """See `Lease.__enter__`."""
        if not await self.acquire():
            raise WaitTimeout(_WAITED)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.release()
