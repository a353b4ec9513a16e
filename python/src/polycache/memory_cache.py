"""A cache of this program's own objects, in memory."""

from collections.abc import (
    Awaitable,
    Callable,
    ItemsView,
    Iterator,
    Mapping,
    MutableMapping,
    ValuesView,
)
from dataclasses import dataclass
from typing import (
    Any,
    ParamSpec,
    Self,
    TypeVar,
    Unpack,
    cast,
    overload,
)
from weakref import ReferenceType, ref

from . import _native
from .async_loading import load_async
from .durations import Duration
from .loading import load
from .memory_memoize import MemoryMemoized, memoized
from .memory_options import MemoryOptions
from .missing import MISSING, Missing

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")
P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_SIZE = 10_000
"""Entries of a cache whose `maxsize` is not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """What a `MemoryCache` holds, and what became of the rest."""

    hits: int
    """Reads that found an entry."""
    misses: int
    """Reads that found none."""
    writes: int
    """Entries stored."""
    deletes: int
    """Entries deleted or popped."""
    evicted: int
    """Entries that made room for others."""
    expired: int
    """Entries whose time was over."""
    unstored: int
    """Loaded values that could not be stored."""
    wait_timeouts: int
    """Callers who got `WaitTimeout`."""
    entries: int
    """Entries that are held; some may have expired."""
    bytes: int
    """What they weigh: bytes with `max_bytes`, the sum of `getsizeof` with that; else 0."""


@_native.quickened
class MemoryCache(_native.QuickMemoryCache[K, V], MutableMapping[K, V]):
    """A cache of this program's own: its objects, in memory, within bounds.

    A mapping. Keys are any hashable objects, equal by `==` as in a dict. Values are what was stored
    itself, unless `isolation="clone"`. `maxsize` is the most entries (default 10,000; None: any
    number; 0: none, every write is refused); with `getsizeof` it is the most that this says of all
    values together. The options are those of `MemoryOptions`. A subclass with a `__missing__` is
    asked for what `cache[key]` does not find, and one with a `getsizeof` for what values count.

    Every method may be called from any thread, and no lock is held over code of yours: `__eq__` and
    `__hash__` of keys, `__del__`, `getsizeof`, loaders and listeners may use the cache. Reading
    counts as a use of the entry; `peek`, `in`, `ttl` and walking through the cache do not.
    Iterations go over the entries that were there when they began. Caches can be neither copied nor
    pickled; a child that is forked has a copy of its own.

    Raises `InvalidArgument` for an unknown option or one out of range. A write raises
    `EntryTooLarge`, a ValueError, for a value that is heavier than all may be together; then
    nothing is changed.
    """

    __slots__ = ("__weakref__", "_counts_itself")
    _counts_itself: bool

    def __new__(cls, maxsize: int | None = DEFAULT_SIZE, **options: Unpack[MemoryOptions]) -> Self:
        counts_itself = options.get("getsizeof") is None and cls.getsizeof is not _getsizeof
        if counts_itself:
            itself = _Itself()
            options["getsizeof"] = itself
        cache = super().__new__(cls, maxsize, **options)
        if counts_itself:
            itself.cache = ref(cache)
        cache._counts_itself = counts_itself
        return cache

    def getsizeof(self, value: V) -> int:
        """What a value counts of `maxsize`."""
        return 1 if self._counts_itself else super().getsizeof(value)

    def expire(self, time: float | None = None) -> list[tuple[K, V]]:
        """Takes out the entries whose time is over, and returns their keys and values.

        In a cache with a `clock`, `time` is what it is to say, in milliseconds.
        """
        return self._expire(time)

    def get_or_set(
        self, key: K, loader: Callable[[], V], *, ttl: Duration | Missing | None = MISSING
    ) -> V:
        """The key's value; when there is none, `loader` is called and what it returns is stored.

        Of all callers one loads, and the others get its value or its error; when it is interrupted
        one of the others loads. Whoever has waited `lease_timeout` for a load begins another beside
        it. A set, delete or clear of the key during the load wins over it: the loaded value is
        returned, not stored. A loader may use the cache, but for its own key (`InvalidArgument`).

        A loaded value that cannot be stored, one that is too large, is returned, counted in
        `stats().unstored`, and told to the logger `polycache`, the first of each kind; with
        `store_errors="raise"` it is the error that `set` raises. Raises `WaitTimeout` after
        `wait_timeout`.
        """
        value = self._hit(key, ttl)
        return cast(V, load(self, key, loader, ttl) if value is MISSING else value)

    async def get_or_set_async(
        self,
        key: K,
        loader: Callable[[], Awaitable[V]],
        *,
        ttl: Duration | Missing | None = MISSING,
    ) -> V:
        """See `get_or_set`; what `loader` returns is awaited.

        When the task that loads is cancelled its loader is too, and one of those who wait loads.
        Cancelling one that waits disturbs nobody. It waits for loads in threads and other loops,
        too.
        """
        value = self._hit(key, ttl)
        if value is MISSING:
            value = await load_async(self, key, loader, ttl)
        return cast(V, value)

    @overload
    def memoize(self, function: Callable[P, T], /) -> MemoryMemoized[P, T]: ...
    @overload
    def memoize(
        self,
        /,
        *,
        ttl: Duration | Missing | None = MISSING,
        key: Callable[..., Any] | None = None,
        typed: bool = True,
    ) -> Callable[[Callable[P, T]], MemoryMemoized[P, T]]: ...
    def memoize(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        ttl: Duration | Missing | None = MISSING,
        key: Callable[..., Any] | None = None,
        typed: bool = True,
    ) -> Any:
        """A decorator that keeps what a function returns, under its arguments: see `cached`."""

        def decorate(function: Callable[..., Any]) -> Any:
            return memoized(self, function, ttl, key=key, typed=typed)

        return decorate if function is None else decorate(function)

    @overload
    def pop(self, key: K, /) -> V: ...
    @overload
    def pop(self, key: K, /, default: D) -> V | D: ...
    def pop(self, key: K, /, default: Any = MISSING) -> Any:
        """Deletes the key and returns its value, or `default`; without one it raises KeyError."""
        value = self._pop(key)
        if value is not MISSING:
            return value
        if default is MISSING:
            raise KeyError(key)
        return default

    def popitem(self) -> tuple[K, V]:
        """Deletes some entry and returns its key and value; KeyError when there is none."""
        while keys := self._keys():
            for key in keys:
                value = self._pop(key)
                if value is not MISSING:
                    return key, value
        raise KeyError("the cache is empty") from None

    def items(self) -> ItemsView[K, V]:
        """A view of the entries; walking through it takes them as they are when it begins."""
        return _Items(self)

    def values(self) -> ValuesView[V]:
        """A view of the values; walking through it takes them as they are when it begins."""
        return _Values(self)

    def stats(self) -> MemoryStats:
        """Counts and sizes."""
        return MemoryStats(**self._stats())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    # Equal by what it holds, which changes.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<polycache.{type(self).__name__} {self.currsize} of {self.maxsize}>"


_getsizeof = MemoryCache.getsizeof


class _Itself:
    """What a value counts by the method of the subclass: the cache does not hold itself."""

    __slots__ = ("cache",)
    cache: "ReferenceType[MemoryCache[Any, Any]]"

    def __call__(self, value: Any) -> int:
        cache = self.cache()
        return 1 if cache is None else cache.getsizeof(value)


class _Items(ItemsView[K, V]):
    _mapping: MemoryCache[K, V]

    def __iter__(self) -> Iterator[tuple[K, V]]:
        return iter(self._mapping._items())

    def __contains__(self, item: object) -> bool:
        key, value = cast(tuple[K, V], item)
        found = self._mapping.peek(key, MISSING)
        return found is not MISSING and (found is value or found == value)


class _Values(ValuesView[V]):
    _mapping: MemoryCache[Any, V]

    def __iter__(self) -> Iterator[V]:
        return iter([value for _, value in self._mapping._items()])

    def __contains__(self, value: object) -> bool:
        return any(found is value or found == value for found in self)
