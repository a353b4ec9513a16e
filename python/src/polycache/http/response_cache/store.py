"""What a response cache asks of a cache, for asyncio and for threads."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from ...cache import Cache
from ...durations import Duration
from ...entry import Entry
from ...lease import Lease
from ...lifetime import TtlOf

T = TypeVar("T")
Loader = Callable[[], Coroutine[Any, Any, Any]]


class Lock(Protocol):
    """A lease; an `AsyncLease` is one."""

    async def acquire(self, wait: bool) -> bool: ...
    async def release(self) -> None: ...


class AnswerStore(Protocol):
    """What is asked of a cache; an `AsyncCache` has it."""

    async def get(self, key: str) -> Any: ...
    async def set(self, key: str, value: Any, *, ttl: Duration) -> None: ...
    async def entry(self, key: str) -> Entry | None: ...
    async def get_or_set(self, key: str, loader: Loader, *, ttl: Duration | TtlOf) -> Any: ...
    async def compare_and_set(
        self, key: str, version: int, value: Any, *, ttl: Duration
    ) -> bool: ...
    async def delete(self, key: str) -> bool: ...
    async def delete_prefix(self, prefix: str) -> int: ...
    def lease(self, key: str) -> Lock: ...


def at_once(call: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing but what blocks its thread."""
    try:
        call.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    call.close()
    raise RuntimeError("a coroutine that should not wait for an event loop does")


class Blocking:
    """A cache whose methods block, for code that is written for asyncio: none of its coroutines is
    ever suspended, so `at_once` runs that code."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def get(self, key: str) -> Any:
        return self._cache.get(key)

    async def set(self, key: str, value: Any, *, ttl: Duration) -> None:
        self._cache.set(key, value, ttl=ttl)

    async def entry(self, key: str) -> Entry | None:
        return self._cache.entry(key)

    async def get_or_set(self, key: str, loader: Loader, *, ttl: Duration | TtlOf) -> Any:
        return self._cache.get_or_set(key, lambda: at_once(loader()), ttl=ttl)

    async def compare_and_set(self, key: str, version: int, value: Any, *, ttl: Duration) -> bool:
        return self._cache.compare_and_set(key, version, value, ttl=ttl)

    async def delete(self, key: str) -> bool:
        return self._cache.delete(key)

    async def delete_prefix(self, prefix: str) -> int:
        return self._cache.delete_prefix(prefix)

    def lease(self, key: str) -> "BlockingLock":
        return BlockingLock(self._cache.lease(key))


class BlockingLock:
    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    async def acquire(self, wait: bool) -> bool:
        return self._lease.acquire(wait)

    async def release(self) -> None:
        self._lease.release()
