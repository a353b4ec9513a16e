"""A cache as a dictionary, for code that takes one."""

from collections.abc import (
    ItemsView,
    Iterator,
    KeysView,
    MutableMapping,
    ValuesView,
)
from typing import Any

from .cache import Cache
from .durations import Duration
from .missing import MISSING

__all__ = ["CacheMapping"]

# Keys that are looked up together when values are walked through.
BATCH = 256


class CacheMapping(MutableMapping[str | bytes, Any]):
    """A cache's namespace as a `MutableMapping`, for code that takes a dictionary.

        prices = CacheMapping(cache.namespace("prices"), ttl="1h")
        prices["apple"] = 3

    It is the cache, not a copy: other processes see what is written, and entries may expire or be
    evicted between two lines. So a walk leaves out what went meanwhile, and `len` is what a walk
    would find. `len`, walks, `popitem`, `==` and `clear` look at all keys of the namespace.

    `ttl` is given to everything that is written; None stands for the cache's option. `setdefault`
    and `pop` are single steps for all processes: of all callers one stores, and one gets the value.
    `update` writes many keys in one go. Values that the cache cannot store raise
    `UnsupportedValue`, and every method raises what the cache's own do.
    """

    __slots__ = ("_cache", "_ttl")

    def __init__(self, cache: Cache, *, ttl: Duration | None = None) -> None:
        self._cache = cache
        self._ttl = ttl

    @property
    def cache(self) -> Cache:
        """The cache, for everything else."""
        return self._cache

    def __getitem__(self, key: str | bytes) -> Any:
        return self._cache[key]

    def __setitem__(self, key: str | bytes, value: Any) -> None:
        self._cache.set(key, value, ttl=self._ttl)

    def __delitem__(self, key: str | bytes) -> None:
        del self._cache[key]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str | bytes) and self._cache.has(key)

    def __iter__(self) -> Iterator[str | bytes]:
        return self._cache.keys()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    # A cache holds falsy entries by the thousand: no walk to find out that it has one.
    def __bool__(self) -> bool:
        return any(True for _ in self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._cache!r})"

    def get(self, key: str | bytes, default: Any = None) -> Any:
        """The value, or `default`."""
        return self._cache.get(key, default)

    def pop(self, key: str | bytes, default: Any = MISSING) -> Any:
        """Removes the key and returns its value; of all callers one gets it. Without a default a
        miss is a KeyError."""
        value = self._cache.take(key, MISSING)
        if value is not MISSING:
            return value
        if default is MISSING:
            raise KeyError(key)
        return default

    def popitem(self) -> tuple[str | bytes, Any]:
        """Removes some key and returns it with its value; a KeyError where there is none."""
        for key in self:
            value = self._cache.take(key, MISSING)
            if value is not MISSING:
                return key, value
        raise KeyError("popitem(): the namespace has no entry")

    def setdefault(self, key: str | bytes, default: Any = None) -> Any:
        """The value that is there, or `default`, which is stored then."""
        while True:
            value = self._cache.get(key, MISSING)
            if value is not MISSING:
                return value
            if self._cache.add(key, default, ttl=self._ttl):
                return default

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Stores the entries of a mapping, or of pairs, in one go."""
        self._cache.set_many({**dict(other), **more}, ttl=self._ttl)

    def clear(self) -> None:
        """Removes all entries of the namespace, and of those nested in it."""
        self._cache.clear()

    def keys(self) -> KeysView[str | bytes]:
        """The keys, as they are found while they are walked through."""
        return KeysView(self)

    def values(self) -> ValuesView[Any]:
        """The values, as they are found while they are walked through."""
        return _Values(self)

    def items(self) -> ItemsView[str | bytes, Any]:
        """Keys and values, as they are found while they are walked through."""
        return _Items(self)

    def _pairs(self) -> Iterator[tuple[str | bytes, Any]]:
        batch: list[str | bytes] = []
        for key in self:
            batch.append(key)
            if len(batch) == BATCH:
                yield from self._cache.get_many(batch).items()
                batch = []
        yield from self._cache.get_many(batch).items()


class _Items(ItemsView[str | bytes, Any]):
    _mapping: CacheMapping

    def __iter__(self) -> Iterator[tuple[str | bytes, Any]]:
        return self._mapping._pairs()


class _Values(ValuesView[Any]):
    _mapping: CacheMapping

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping._pairs())
