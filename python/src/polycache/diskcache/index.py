"""diskcache's `Index`: a mapping in a directory, in the order of insertion."""

import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, MutableMapping
from typing import Any, Self, TypeVar

from .cache import Cache
from .constants import ENOVAL
from .handle import Block

K = TypeVar("K")
V = TypeVar("V")
F = TypeVar("F", bound=Callable[..., Any])


class Index(MutableMapping[K, V]):
    """A mapping that many threads and processes change, in the order of insertion.

    The first argument may be its directory, as text or bytes, which is made if it is missing;
    without one it is a new temporary one, which stays. The other arguments are those of `dict`.
    Nothing is evicted.
    """

    _cache: Cache

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        directory = None
        if args and isinstance(args[0], str | bytes):
            directory = os.fsdecode(args[0])
            args = args[1:]
        elif args and args[0] is None:
            args = args[1:]
        self._cache = Cache(directory, eviction_policy="none")
        self.update(*args, **kwargs)

    @classmethod
    def fromcache(cls, cache: Cache, *args: Any, **kwargs: Any) -> Self:
        """An index over a cache, which should evict nothing."""
        index = cls.__new__(cls)
        index._cache = cache
        index.update(*args, **kwargs)
        return index

    @property
    def cache(self) -> Cache:
        """The cache that holds it."""
        return self._cache

    @property
    def directory(self) -> str:
        """The directory that holds it."""
        return self._cache.directory

    def __getitem__(self, key: K) -> V:
        value: V = self._cache[key]
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self._cache[key] = value

    def __delitem__(self, key: K) -> None:
        del self._cache[key]

    def __contains__(self, key: object) -> bool:
        return key in self._cache

    def __len__(self) -> int:
        return len(self._cache)

    def __iter__(self) -> Iterator[K]:
        return iter(self._cache)

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._cache)

    def setdefault(self, key: K, default: Any = None) -> Any:
        """The key's value; without one, `default`, which is then stored."""
        while True:
            value = self._cache.get(key, ENOVAL, retry=True)
            if value is not ENOVAL:
                return value
            self._cache.add(key, default, retry=True)

    def peekitem(self, last: bool = True) -> tuple[K, V]:
        """The key and value that were inserted last, or first. Raises KeyError when it is empty."""
        pair: tuple[K, V] = self._cache.peekitem(last, retry=True)
        return pair

    def pop(self, key: K, default: Any = ENOVAL) -> Any:
        """Deletes the key and returns its value; without one `default`, or raises KeyError."""
        value = self._cache.pop(key, default, retry=True)
        if value is ENOVAL:
            raise KeyError(key)
        return value

    def popitem(self, last: bool = True) -> tuple[K, V]:
        """Takes the key and value that were inserted last, or first. Raises KeyError when it is
        empty."""
        with self._cache._writing():
            key, value = self._cache.peekitem(last, retry=True)
            del self._cache[key]
        return key, value

    def push(self, value: V, prefix: str | None = None, side: str = "back") -> Any:
        """See `Cache.push`."""
        return self._cache.push(value, prefix, side, retry=True)

    def pull(
        self, prefix: str | None = None, default: Any = (None, None), side: str = "front"
    ) -> Any:
        """See `Cache.pull`."""
        return self._cache.pull(prefix, default, side, retry=True)

    def clear(self) -> None:
        """Deletes all."""
        self._cache.clear(retry=True)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> str:
        self._cache.__getstate__()  # Refuses a secret.
        return self.directory

    def __setstate__(self, state: str) -> None:
        self.__init__(state)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        """Whether another mapping has the same items: in the same order, if it is an Index or an
        OrderedDict."""
        if not hasattr(other, "keys") or not hasattr(other, "__getitem__"):
            return NotImplemented
        mine, others = list(self.items()), [(key, other[key]) for key in other.keys()]  # noqa: SIM118
        if isinstance(other, Index | OrderedDict) or len(mine) != len(others):
            return mine == others
        return all(
            found is not ENOVAL and found == value
            for key, value in mine
            for found in [other.get(key, ENOVAL)]  # type: ignore[attr-defined]
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def memoize(
        self, name: str | None = None, typed: bool = False, ignore: Collection[int | str] = ()
    ) -> Callable[[F], F]:
        """See `Cache.memoize`."""
        return self._cache.memoize(name, typed, ignore=ignore)

    def transact(self) -> Block:
        """See `Cache.transact`; it waits for other writers."""
        return self._cache.transact(retry=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.directory!r})"
