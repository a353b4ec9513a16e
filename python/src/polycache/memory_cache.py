"""A cache of this program's own objects, in memory."""

from collections.abc import (
    Awaitable,
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    ValuesView,
)
from dataclasses import dataclass
from typing import (
    Any,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from . import _native
from .async_loading import load_async, load_many_async
from .durations import Duration
from .lifetime import TtlOf
from .loading import load
from .loading_many import load_many
from .memory_cache_options import MemoryCacheOptions
from .memory_memoize import MemoryMemoized, memoized
from .missing import MISSING, Missing
from .observers import Observers

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")
P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_ENTRIES = 10_000
"""The most entries of a cache whose `max_entries` is not given."""


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
    invalidated_loads: int
    """Loads whose value was not stored, because a set, delete, clear or other load came between."""
    unstored: int
    """Loaded values that could not be stored."""
    wait_timeouts: int
    """Callers that got `WaitTimeout`."""
    entries: int
    """Entries that are held; some may have expired."""
    bytes: int
    """What they weigh with `max_bytes`; else 0."""


@dataclass(frozen=True, slots=True)
class MemoryEntry(Generic[K, V]):
    """What a `MemoryCache` says of a key's entry."""

    key: K
    """The key, as it was asked for."""
    value: V
    """The value, as `get` gives it."""
    ttl: float
    """Seconds that the entry has left, to live or to idle; infinite when it does not expire."""
    bytes: int
    """What the entry weighs with `max_bytes`; else 0."""


@_native.quickened
class MemoryCache(_native.QuickMemoryCache[K, V], MutableMapping[K, V]):
    """A cache of this program's own objects, in memory, within bounds.

    A mapping. Keys are any hashable objects, equal by `==` as in a dict. Values are objects of any
    class: each reader gets a copy of what can change, or with `isolation="none"` the object itself.
    `max_entries` is the most entries (None: any number; 0: none, every write is refused; default:
    10,000). The other options are those of `MemoryCacheOptions`. `cache[key]` calls the
    `__missing__` of a subclass for a missing key.

    Every method may be called from any thread, and no lock is held while your code runs: `__eq__`
    and `__hash__` of keys, `__del__`, weighers, loaders and listeners may use the cache. Reading is
    a use of the entry; `peek`, `entry`, `in`, `ttl` and iteration are not. An iteration covers the
    entries that were there when it began. Caches can be neither copied nor pickled; a forked child
    has a copy of its own.

    Raises `InvalidArgument` for an unknown option or one out of range. A write raises
    `UnsupportedValue` for a value that has no copy, and `EntryTooLarge`, a ValueError, for one that
    is heavier than the whole cache may be; then nothing is changed.
    """

    __slots__ = ("__weakref__", "_observers")
    _observers: Observers

    def __new__(
        cls, max_entries: int | None = DEFAULT_ENTRIES, **options: Unpack[MemoryCacheOptions]
    ) -> Self:
        cache = super().__new__(cls, max_entries, **options)
        cache._observers = Observers()
        return cache

    def entry(self, key: K, /) -> MemoryEntry[K, V] | None:
        """The key's value with the facts of its entry, or None. Not a use of the entry."""
        found = self._entry(key)
        return None if found is None else MemoryEntry(key, *found)

    def expire(self, time: float | None = None) -> list[tuple[K, V]]:
        """Removes all expired entries, and returns their keys and values.

        In a cache with a `clock`, `time` is used instead of its time, in milliseconds.
        """
        return self._expire(time)

    def get_or_set(
        self,
        key: K,
        loader: Callable[[], V],
        *,
        ttl: Duration | Missing | Callable[[V], Duration | Missing | None] | None = MISSING,
    ) -> V:
        """The key's value; when there is none, `loader` is called and what it returns is stored.

        Of all callers one loads, and the others get its value or its error; when it is interrupted
        one of the others loads. A caller that has waited `lease_timeout` for a load begins another
        beside it. A set, delete or clear of the key during the load wins: the loaded value is
        returned, not stored. A loader may use the cache, except for its own key
        (`InvalidArgument`). `ttl` counts from the end of the load; it may be a function of the
        loaded value.

        A loaded value that cannot be stored (it has no copy, or is too large) is returned, counted
        in `stats().unstored`, and the first of each kind is reported to the logger `polycache`;
        with `store_errors="raise"` the error of `set` is raised. Raises `WaitTimeout` after
        `wait_timeout`.
        """
        value = self._hit(key, MISSING if callable(ttl) else ttl)
        return cast(V, load(self, key, loader, ttl) if value is MISSING else value)

    async def get_or_set_async(
        self,
        key: K,
        loader: Callable[[], Awaitable[V]],
        *,
        ttl: Duration | Missing | Callable[[V], Duration | Missing | None] | None = MISSING,
    ) -> V:
        """See `get_or_set`; what `loader` returns is awaited.

        When the task that loads is cancelled, so is its loader, and a waiting task loads.
        Cancelling a waiting task disturbs no other. It also waits for loads in threads and other
        loops.
        """
        value = self._hit(key, MISSING if callable(ttl) else ttl)
        if value is MISSING:
            value = await load_async(self, key, loader, ttl)
        return cast(V, value)

    def get_or_set_many(
        self,
        keys: Iterable[K],
        loader: Callable[[list[K]], Mapping[K, V]],
        *,
        ttl: Duration | Missing | Callable[[V], Duration | Missing | None] | None = MISSING,
    ) -> dict[K, V]:
        """The values of the keys, in a dict; `loader` is called once for those that have none.

        It is given the list of the keys that this caller is to load, and returns a mapping of keys
        to values. A key that it leaves out has no entry, and is missing in the result. The rules of
        `get_or_set` hold for each key. The caller loads its own keys before it waits for keys that
        others load; if one of these falls to it after all, `loader` is called again.

        Raises what `get_or_set` raises, and `InvalidArgument` for a key that `loader` was not asked
        for; then nothing is stored.
        """
        return load_many(self, keys, loader, ttl)

    async def get_or_set_many_async(
        self,
        keys: Iterable[K],
        loader: Callable[[list[K]], Awaitable[Mapping[K, V]]],
        *,
        ttl: Duration | Missing | Callable[[V], Duration | Missing | None] | None = MISSING,
    ) -> dict[K, V]:
        """See `get_or_set_many`; what `loader` returns is awaited."""
        return await load_many_async(self, keys, loader, ttl)

    @overload
    def memoize(self, function: Callable[P, T], /) -> MemoryMemoized[P, T]: ...
    @overload
    def memoize(
        self,
        /,
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        key: Callable[..., Any] | None = None,
        typed: bool = True,
    ) -> Callable[[Callable[P, T]], MemoryMemoized[P, T]]: ...
    def memoize(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        key: Callable[..., Any] | None = None,
        typed: bool = True,
    ) -> Any:
        """A decorator that keeps what a function returns, under its arguments: see `cached`. `ttl`
        may be a function of the result, as in `get_or_set`."""

        def decorate(function: Callable[..., Any]) -> Any:
            return memoized(self, function, ttl, key=key, typed=typed, shares=True)

        return decorate if function is None else decorate(function)

    @overload
    def pop(self, key: K, /) -> V: ...
    @overload
    def pop(self, key: K, /, default: D) -> V | D: ...
    def pop(self, key: K, /, default: Any = MISSING) -> Any:
        """As `take`, but without a `default` it raises KeyError."""
        value = self.take(key, MISSING)
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
        """A view of the entries; an iteration covers those that are there when it begins."""
        return _Items(self)

    def values(self) -> ValuesView[V]:
        """A view of the values; an iteration covers those that are there when it begins."""
        return _Values(self)

    def stats(self) -> MemoryStats:
        """Counts and sizes."""
        return MemoryStats(**self._stats())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    # Equal by its contents, which change.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<polycache.{type(self).__name__} {len(self)} of {self.max_entries}>"


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
