"""The cache for asyncio."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, Unpack, cast, overload

from .aside import aside
from .async_loading import load_async, load_many_async
from .cache import Cache, name_of_key
from .durations import Duration
from .entry import Entry
from .files.asynchronous import AsyncOpening
from .lease import AsyncLease
from .lifetime import TtlOf, lifetime, load_lifetime
from .memoize import AsyncMemoized
from .missing import MISSING, Missing
from .options import Options
from .statistics import MachineStats, RemoteStats, Report, Stats, Usage
from .updating import update_async

K = TypeVar("K", bound=str | bytes)
P = ParamSpec("P")
T = TypeVar("T")


class AsyncCache:
    """`Cache` for asyncio: the same arguments, methods and errors, to be awaited.

    Reads and writes run in place, without another thread: they take about a microsecond. With
    `remote` they run in a thread each, because they may wait for the server.
    (Compressing large values takes longer: use `await asyncio.to_thread(cache.set, ...)` with a
    `Cache`.) Calls that walk the whole directory (`stats`, `check`, `flush`, `delete_prefix`) run
    in a thread, and waiting for another's load never blocks the event loop. There is no
    `cache[key]`: it could not be awaited.
    """

    def __init__(
        self, path: str | PathLike[str] | Missing = MISSING, **options: Unpack[Options]
    ) -> None:
        self._use(Cache(path, **options))

    @classmethod
    def over(cls, cache: Cache) -> Self:
        """A cache over the handle of a synchronous one: closing either closes both."""
        made = cls.__new__(cls)
        made._use(cache)
        return made

    def _use(self, cache: Cache) -> None:
        self._cache = cache
        self._waits = cache._waits

    async def get(self, key: str | bytes, default: Any = None) -> Any:
        """See `Cache.get`."""
        if self._waits:
            return await aside(self._cache, self._cache.get, key, default)
        return self._cache.get(key, default)

    async def peek(self, key: str | bytes, default: Any = None) -> Any:
        """See `Cache.peek`."""
        return await aside(self._cache, self._cache.peek, key, default)

    async def take(self, key: str | bytes, default: Any = None) -> Any:
        """See `Cache.take`."""
        return await aside(self._cache, self._cache.take, key, default)

    async def set(
        self,
        key: str | bytes,
        value: Any,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> None:
        """See `Cache.set`."""
        if self._waits or hasattr(value, "read"):
            await asyncio.to_thread(self._cache.set, key, value, ttl=ttl, expires_at=expires_at)
        else:
            self._cache.set(key, value, ttl=ttl, expires_at=expires_at)

    async def delete(self, key: str | bytes) -> bool:
        """See `Cache.delete`."""
        return await aside(self._cache, self._cache.delete, key)

    async def has(self, key: str | bytes) -> bool:
        """See `Cache.has`."""
        return await aside(self._cache, self._cache.has, key)

    async def ttl(self, key: str | bytes) -> float | None:
        """See `Cache.ttl`."""
        return await aside(self._cache, self._cache.ttl, key)

    async def touch(
        self,
        key: str | bytes,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> bool:
        """See `Cache.touch`."""
        return await aside(self._cache, self._cache.touch, key, ttl=ttl, expires_at=expires_at)

    async def add(
        self,
        key: str | bytes,
        value: Any,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> bool:
        """See `Cache.add`."""
        return await aside(self._cache, self._cache.add, key, value, ttl=ttl, expires_at=expires_at)

    async def replace(
        self,
        key: str | bytes,
        value: Any,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> bool:
        """See `Cache.replace`."""
        return await aside(
            self._cache, self._cache.replace, key, value, ttl=ttl, expires_at=expires_at
        )

    async def compare_and_set(
        self,
        key: str | bytes,
        version: int,
        value: Any,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> bool:
        """See `Cache.compare_and_set`."""
        return await aside(
            self._cache,
            self._cache.compare_and_set,
            key,
            version,
            value,
            ttl=ttl,
            expires_at=expires_at,
        )

    async def update(
        self,
        key: str | bytes,
        function: Callable[[Any], Awaitable[Any]],
        default: Any = None,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> Any:
        """See `Cache.update`; what `function` returns is awaited."""
        lives = lifetime(ttl, expires_at)
        return await update_async(self._cache, key, function, default, lives)

    async def increment(
        self,
        key: str | bytes,
        by: int = 1,
        initial: int = 0,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> int:
        """See `Cache.increment`."""
        return await aside(
            self._cache, self._cache.increment, key, by, initial, ttl=ttl, expires_at=expires_at
        )

    async def decrement(
        self,
        key: str | bytes,
        by: int = 1,
        initial: int = 0,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> int:
        """See `Cache.decrement`."""
        return await aside(
            self._cache, self._cache.decrement, key, by, initial, ttl=ttl, expires_at=expires_at
        )

    async def entry(self, key: str | bytes) -> Entry | None:
        """See `Cache.entry`."""
        return await aside(self._cache, self._cache.entry, key)

    async def get_many(self, keys: Iterable[str | bytes]) -> dict[str | bytes, Any]:
        """See `Cache.get_many`."""
        return await aside(self._cache, self._cache.get_many, keys)

    async def set_many(
        self,
        entries: Mapping[str, Any] | Mapping[bytes, Any],
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> None:
        """See `Cache.set_many`."""
        await aside(self._cache, self._cache.set_many, entries, ttl=ttl, expires_at=expires_at)

    async def delete_many(self, keys: Iterable[str | bytes]) -> int:
        """See `Cache.delete_many`."""
        return await aside(self._cache, self._cache.delete_many, keys)

    async def delete_prefix(self, prefix: str | bytes) -> int:
        """See `Cache.delete_prefix`."""
        return await asyncio.to_thread(self._cache.delete_prefix, prefix)

    async def get_or_set(
        self,
        key: str | bytes,
        loader: Callable[[], Awaitable[T]],
        *,
        ttl: Duration | Missing | Callable[[T], Duration | Missing | None] | None = MISSING,
        expires_at: datetime | None = None,
    ) -> T:
        """See `Cache.get_or_set`; what `loader` returns is awaited.

        When the task that loads is cancelled, so is its loader, and a waiting task loads.
        Cancelling a waiting task disturbs no other. Threads that use the same cache join, too.
        """
        lives = ttl if expires_at is None else load_lifetime(ttl, expires_at)
        checked = MISSING if callable(lives) else lives
        if self._waits:
            value = await aside(self._cache, self._cache._hit, key, checked)
        else:
            value = self._cache._hit(key, checked)
        if value is MISSING:
            return cast(T, await load_async(self._cache, key, loader, lives))
        return cast(T, value)

    async def get_or_set_many(
        self,
        keys: Iterable[K],
        loader: Callable[[list[K]], Awaitable[Mapping[K, Any]]],
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        expires_at: datetime | None = None,
    ) -> dict[K, Any]:
        """See `Cache.get_or_set_many`; what `loader` returns is awaited."""
        return await load_many_async(
            self._cache,
            keys,
            loader,
            load_lifetime(ttl, expires_at),
            name_of_key,
            self._cache._copy_of,
        )

    @overload
    def memoize(self, function: Callable[P, Awaitable[T]], /) -> AsyncMemoized[P, Awaitable[T]]: ...
    @overload
    def memoize(
        self,
        /,
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        expires_at: datetime | None = None,
        name: str | None = None,
        key: Callable[..., str | bytes] | None = None,
    ) -> Callable[[Callable[P, Awaitable[T]]], AsyncMemoized[P, Awaitable[T]]]: ...
    def memoize(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        expires_at: datetime | None = None,
        name: str | None = None,
        key: Callable[..., str | bytes] | None = None,
    ) -> Any:
        """See `Cache.memoize`; what the function returns is awaited, and so are `forget` and
        `forget_all`."""
        lives = load_lifetime(ttl, expires_at)

        def decorate(function: Any) -> Any:
            return self._cache._memoized(function, lives, name, key, awaits=True)

        return decorate if function is None else decorate(function)

    async def keys(self, prefix: str | bytes = "") -> AsyncIterator[str | bytes]:
        """See `Cache.keys`; other tasks run after some thousand places of the index."""
        cursor: int | None = 0
        while cursor is not None:
            page, cursor = await aside(self._cache, self._cache._keys_page, prefix, cursor)
            for key in page:
                yield key
            await asyncio.sleep(0)

    async def clear(self) -> None:
        """See `Cache.clear`."""
        await aside(self._cache, self._cache.clear)

    @overload
    def open(self, key: str | bytes, mode: Literal["rb"] = "rb") -> AsyncOpening[bytes]: ...
    @overload
    def open(
        self,
        key: str | bytes,
        mode: Literal["r", "rt"],
        *,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> AsyncOpening[str]: ...
    @overload
    def open(
        self,
        key: str | bytes,
        mode: Literal["wb"],
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> AsyncOpening[bytes]: ...
    @overload
    def open(
        self,
        key: str | bytes,
        mode: Literal["w", "wt"],
        *,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> AsyncOpening[str]: ...
    def open(
        self,
        key: str | bytes,
        mode: Any = "rb",
        *,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> AsyncOpening[Any]:
        """See `Cache.open`; `async with` it, or await it. What the file does runs in threads."""
        how: dict[str, Any] = {"encoding": encoding, "errors": errors, "newline": newline}
        return AsyncOpening(
            lambda: self._cache.open(key, mode, **how, ttl=ttl, expires_at=expires_at)
        )

    def lease(self, key: str | bytes) -> AsyncLease:
        """See `Cache.lease`."""
        return AsyncLease(self._cache._lock(key), self._cache)

    async def stats(self) -> Stats:
        """See `Cache.stats`."""
        return await asyncio.to_thread(self._cache.stats)

    async def machine_stats(self) -> MachineStats | None:
        """See `Cache.machine_stats`."""
        return await asyncio.to_thread(self._cache.machine_stats)

    async def remote_stats(self) -> RemoteStats | None:
        """See `Cache.remote_stats`."""
        return self._cache.remote_stats()

    async def usage(self, most: int = 10) -> list[Usage] | None:
        """See `Cache.usage`."""
        return await asyncio.to_thread(self._cache.usage, most)

    async def check(self) -> Report:
        """See `Cache.check`."""
        return await asyncio.to_thread(self._cache.check)

    async def flush(self) -> None:
        """See `Cache.flush`."""
        await asyncio.to_thread(self._cache.flush)

    async def close(self) -> None:
        """See `Cache.close`."""
        await aside(self._cache, self._cache.close)

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._cache.closed

    @property
    def path(self) -> Path | None:
        """The cache's directory, absolute; None without one."""
        return self._cache.path

    @property
    def name(self) -> str:
        """See `Cache.name`."""
        return self._cache.name

    def namespace(self, part: str) -> Self:
        """See `Cache.namespace`."""
        return self.over(self._cache.namespace(part))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._cache._is_nested:
            self._cache.close()

    def __repr__(self) -> str:
        return f"<polycache.{type(self).__name__} over {self._cache!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).over, (self._cache,)
