"""`cached` and `cachedmethod` with the arguments of cachetools'."""

from collections.abc import Callable, MutableMapping
from contextlib import suppress
from functools import partial, update_wrapper
from typing import Any, TypeVar, cast

from ..loading import load
from ..memory_cache import MemoryCache
from ..memory_memoize import CacheInfo
from ..missing import MISSING
from .keys import hashkey, methodkey

F = TypeVar("F", bound=Callable[..., Any])
AnyCache = MutableMapping[Any, Any] | None


class _Counts:
    """Calls that found a result, and those that did not."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.hits = self.misses = 0

    def info(self, cache: AnyCache) -> CacheInfo:
        if cache is None:
            return CacheInfo(self.hits, self.misses, 0, 0)
        if isinstance(cache, MemoryCache):
            return CacheInfo(self.hits, self.misses, cache.max_entries, cache._held)
        return CacheInfo(self.hits, self.misses, None, len(cache))


class _Lock:
    """What guards a mapping that threads must not share."""

    def __init__(self, lock: Any, condition: Any) -> None:
        self.lock = lock if lock is not None else condition
        self.condition = condition
        self._loading: set[Any] = set()

    def __enter__(self) -> None:
        if self.lock is not None:
            self.lock.__enter__()

    def __exit__(self, *error: Any) -> None:
        if self.lock is not None:
            self.lock.__exit__(*error)

    def begin(self, key: Any) -> None:
        """Waits until no other caller loads the key."""
        if self.condition is not None:
            self.condition.wait_for(lambda: key not in self._loading)

    def load(self, key: Any) -> None:
        """Has others wait, where there is a condition."""
        if self.condition is not None:
            self._loading.add(key)

    def end(self, key: Any) -> None:
        """Lets others go on."""
        if self.condition is not None:
            with self:
                self._loading.discard(key)
                self.condition.notify_all()


def _call(
    cache: AnyCache, key: Any, function: Callable[[], Any], counts: _Counts, guard: _Lock
) -> Any:
    """The key's value, or else the function's result, which is kept if possible."""
    if cache is None:
        counts.misses += 1
        return function()
    if isinstance(cache, MemoryCache):
        return _call_ours(cache, key, function, counts)
    with guard:
        guard.begin(key)
        try:
            value = cache[key]
        except KeyError:
            counts.misses += 1
            guard.load(key)
        else:
            counts.hits += 1
            return value
    try:
        value = function()
        # A result that is too large is not kept.
        with guard, suppress(ValueError):
            if guard.lock is not None:
                # Another may have been faster.
                return cache.setdefault(key, value)
            cache[key] = value
        return value
    finally:
        guard.end(key)


def _call_ours(
    cache: MemoryCache[Any, Any], key: Any, function: Callable[[], Any], counts: _Counts
) -> Any:
    if type(cache).__getitem__ is MemoryCache.__getitem__ and not hasattr(cache, "__missing__"):
        value = cache._hit(key, MISSING)
    else:
        # A subclass may create missing values.
        try:
            value = cache[key]
        except KeyError:
            value = MISSING
    if value is not MISSING:
        counts.hits += 1
        return value
    counts.misses += 1
    return load(cache, key, function, MISSING, lenient=True)


def cached(
    cache: AnyCache,
    key: Callable[..., Any] = hashkey,
    lock: Any = None,
    condition: Any = None,
    info: bool = False,
) -> Callable[[F], F]:
    """A decorator that keeps what a function returns in `cache`, a mapping or None.

    `lock` and `condition` guard mappings of other kinds. Caches of this package do not need or use
    them: any thread may use them, and of all callers of a key one runs the function.
    """

    def decorate(function: F) -> F:
        counts = _Counts()
        guard = _Lock(lock, condition)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            k = key(*args, **kwargs)
            return _call(cache, k, lambda: function(*args, **kwargs), counts, guard)

        def cache_clear() -> None:
            with guard:
                counts.clear()
                if cache is not None:
                    cache.clear()

        made: Any = update_wrapper(wrapper, function)
        made.cache = cache
        made.cache_key = key
        made.cache_lock = lock if lock is not None else condition
        made.cache_condition = condition
        made.cache_clear = cache_clear
        made.cache_info = (lambda: counts.info(cache)) if info else None
        return made  # type: ignore[no-any-return]

    return decorate


class _Bound:
    """A method of one instance, whose results are kept."""

    def __init__(
        self,
        instance: Any,
        method: Callable[..., Any],
        cache: Callable[[Any], AnyCache],
        key: Callable[..., Any],
        lock: Callable[[Any], Any] | None,
        condition: Callable[[Any], Any] | None,
        info: bool,
    ) -> None:
        update_wrapper(self, method)
        self.cache_condition = None if condition is None else condition(instance)
        self.cache_lock = self.cache_condition if lock is None else lock(instance)
        self._guard = _Lock(self.cache_lock, self.cache_condition)
        self._instance = instance
        self._method = method
        self._cache = cache
        self._counts = _Counts()
        self.cache_key = partial(key, instance)
        if info:
            self.cache_info = lambda: self._counts.info(self.cache)

    @property
    def cache(self) -> AnyCache:
        """Where the results are."""
        return self._cache(self._instance)

    def cache_clear(self) -> None:
        """Deletes the results."""
        with self._guard:
            self._counts.clear()
            cache = self.cache
            if cache is not None:
                cache.clear()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _call(
            self.cache,
            self.cache_key(*args, **kwargs),
            lambda: self._method(self._instance, *args, **kwargs),
            self._counts,
            self._guard,
        )


class _Method:
    """The descriptor in the class."""

    def __init__(self, method: Callable[..., Any], *how: Any) -> None:
        update_wrapper(cast(Any, self), method)
        self._method = method
        self._how = how
        self._name: str | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        if self._name not in (None, name):
            raise TypeError(f"one cachedmethod has two names, {self._name!r} and {name!r}")
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        bound = _Bound(instance, self._method, *self._how)
        kept = getattr(instance, "__dict__", None)
        if self._name is None or not isinstance(kept, dict):
            return bound
        # If several threads come here at once, one makes it.
        return kept.setdefault(self._name, bound)


def cachedmethod(
    cache: Callable[[Any], AnyCache],
    key: Callable[..., Any] = methodkey,
    lock: Callable[[Any], Any] | None = None,
    condition: Callable[[Any], Any] | None = None,
    info: bool = False,
) -> Callable[[Callable[..., Any]], Any]:
    """A decorator for methods: `cache(self)` is the mapping that keeps the results, or None.

    `lock(self)` and `condition(self)` are for mappings of other kinds: see `cached`.
    """
    return lambda method: _Method(method, cache, key, lock, condition, info)
