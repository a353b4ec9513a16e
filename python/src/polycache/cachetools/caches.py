"""`MemoryCache` with the arguments and attributes of cachetools' classes."""

import math
import time
from collections.abc import Callable
from typing import Any, Self, TypeVar
from weakref import ReferenceType, ref

from ..drop_in import cache_of
from ..memory_cache import MemoryCache

K = TypeVar("K")
V = TypeVar("V")
Number = int | float
Timer = Callable[[], Number]


class Sized(MemoryCache[K, V]):
    """A cache in cachetools' words. A subclass may define `getsizeof`."""

    __slots__ = ("_counts_itself",)
    _counts_itself: bool

    def __new__(
        cls,
        maxsize: Number,
        getsizeof: Callable[[Any], int] | None = None,
        **options: Any,
    ) -> Self:
        counts_itself = getsizeof is None and cls.getsizeof is not _getsizeof
        itself = _Itself()
        says = itself if counts_itself else getsizeof
        cache = cache_of(cls, _whole(maxsize), says, **options)
        if counts_itself:
            itself.cache = ref(cache)
        cache._counts_itself = counts_itself
        return cache

    def getsizeof(self, value: V) -> int:
        """How much of `maxsize` a value takes."""
        return 1 if self._counts_itself else self._size_of(value)

    @property
    def maxsize(self) -> int | None:
        """The most entries, or with `getsizeof` the largest sum of its results; None: any
        number."""
        return self.max_entries

    @property
    def currsize(self) -> int:
        """How much of `maxsize` is in use."""
        return self._held

    def __repr__(self) -> str:
        return f"{type(self).__name__}(maxsize={self.maxsize!r}, currsize={self.currsize!r})"


_getsizeof = Sized.getsizeof


class _Itself:
    """The size of a value by the subclass's method. It holds no reference to the cache."""

    __slots__ = ("cache",)
    cache: "ReferenceType[Sized[Any, Any]]"

    def __call__(self, value: Any) -> int:
        cache = self.cache()
        return 1 if cache is None else cache.getsizeof(value)


class Cache(Sized[K, V]):
    """A cache of at most `maxsize`, counted in entries or by `getsizeof`.

    The class does not decide which entry goes, as it does in cachetools: the policy of
    `spec/eviction.md` does. It hits more often than LRU, and any thread may use it.
    """

    __slots__ = ()

    def __new__(cls, maxsize: Number, getsizeof: Callable[[V], int] | None = None) -> Self:
        return super().__new__(cls, maxsize, getsizeof)


class LRUCache(Cache[K, V]):
    """See `Cache`."""

    __slots__ = ()


class _TimedCache(Sized[K, V]):
    """A cache whose entries have a time to live, by a timer of the program's own."""

    __slots__ = ("_timer",)
    _timer: Timer

    @property
    def timer(self) -> Timer:
        """Tells the time."""
        return self._timer

    def expire(self, time: Number | None = None) -> list[tuple[K, V]]:
        """Removes what has expired at this time, or now, and returns keys and values."""
        return self._expire(None if time is None else time * 1000)


class TTLCache(_TimedCache[K, V]):
    """A cache whose entries live for `ttl`, in seconds or in the unit of `timer`."""

    __slots__ = ("_ttl",)
    _ttl: Number

    def __new__(
        cls,
        maxsize: Number,
        ttl: Number,
        timer: Timer = time.monotonic,
        getsizeof: Callable[[V], int] | None = None,
    ) -> Self:
        cache = super().__new__(cls, maxsize, getsizeof, ttl=_lifetime(ttl), clock=_clock(timer))
        cache._ttl = ttl
        cache._timer = timer
        return cache

    @property
    def ttl(self) -> Number:  # type: ignore[override]
        """How long entries live."""
        return self._ttl


class TLRUCache(_TimedCache[K, V]):
    """A cache whose entries live until `ttu(key, value, now)`."""

    __slots__ = ("_ttu",)
    _ttu: Callable[[Any, Any, Any], Number]

    def __new__(
        cls,
        maxsize: Number,
        ttu: Callable[[K, V, Any], Number],
        timer: Timer = time.monotonic,
        getsizeof: Callable[[V], int] | None = None,
    ) -> Self:
        def lifetime(key: K, value: V) -> Number | None:
            now = timer()
            left = ttu(key, value, now) - now
            return None if left == math.inf else left

        cache = super().__new__(cls, maxsize, getsizeof, ttl=lifetime, clock=_clock(timer))
        cache._ttu = ttu
        cache._timer = timer
        return cache

    @property
    def ttu(self) -> Callable[[K, V, Any], Number]:
        """Says when an entry expires."""
        return self._ttu


def _whole(maxsize: Number) -> int | None:
    if maxsize == math.inf:
        return None
    return int(maxsize) if isinstance(maxsize, float) and maxsize.is_integer() else maxsize  # type: ignore[return-value]


def _lifetime(ttl: Number) -> Any:
    if ttl == math.inf:
        return None
    return ttl if ttl > 0 else lambda _key, _value: 0


def _clock(timer: Timer) -> Callable[[], float] | None:
    # The cache's own clock does the same as these two, and need not be called for each hit.
    if timer in (time.monotonic, time.time):
        return None
    return lambda: timer() * 1000
