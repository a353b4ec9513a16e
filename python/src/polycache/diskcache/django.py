"""diskcache's `DjangoCache`: a cache backend for Django.

CACHES = {
    "default": {
        "BACKEND": "polycache.diskcache.DjangoCache",
        "LOCATION": "/var/cache/site",
        "OPTIONS": {"size_limit": 2**30, "pickle_secret": os.environ["CACHE_SECRET"]},
    }
}
"""

from collections.abc import Callable, Collection
from typing import Any, BinaryIO, TypeVar

from django.core.cache.backends.base import (  # type: ignore[import-untyped]
    DEFAULT_TIMEOUT,
    BaseCache,
)
from django.utils.safestring import SafeString  # type: ignore[import-untyped]

from .cache import Cache
from .constants import ENOVAL, MODE_SAFE, UNKNOWN
from .deque import Deque
from .disk import Disk, Stored
from .errors import HOW_TO_PICKLE, HOW_TO_PICKLE_IN_DJANGO, PickleNeeded
from .fanout import FanoutCache
from .index import Index
from .memoizing import decorator_of
from .pickling import Pickling

F = TypeVar("F", bound=Callable[..., Any])


class DjangoDisk(Disk):
    """Keeps text that Django has marked safe, as templates' fragments are, without pickle, too."""

    def store(self, value: Any, read: bool, key: Any = UNKNOWN) -> Stored:
        """See `Disk.store`."""
        if type(value) is not SafeString or self.pickling is not None:
            return super().store(value, read, key)
        # str(value) would be the value itself.
        size, _, _, text = super().store(str.__str__(value), False, key)
        return size, MODE_SAFE, None, text

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """See `Disk.fetch`."""
        if mode == MODE_SAFE:
            return SafeString(value)
        return super().fetch(mode, filename, value, read)


class DjangoCache(BaseCache):  # type: ignore[misc]
    """Django's cache operations over a `FanoutCache`, and diskcache's own.

    `OPTIONS` are the settings of a `Cache`, with `pickle_secret` for values that are not in the
    type map: whole pages (`cache_page`, the cache middleware), model instances, querysets, dates,
    lazy translations. Fragments of templates (`{% cache %}`) and sessions of JSON's types need
    none. `DATABASE_TIMEOUT` is the cache's `timeout`. Without a timeout of its own a value lives
    for Django's `TIMEOUT`.
    """

    def __init__(self, directory: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._cache = FanoutCache(
            directory,
            params.get("SHARDS", 8),
            params.get("DATABASE_TIMEOUT", 0.010),
            **{"disk": DjangoDisk, **params.get("OPTIONS", {})},
        )

    @property
    def _pickling(self) -> Pickling | None:
        return self._cache._pickling

    @property
    def directory(self) -> str:
        """The cache's directory."""
        return self._cache.directory

    def cache(self, name: str) -> Cache:
        """The `Cache` of this name, in a folder of the directory."""
        return self._cache.cache(name)

    def deque(self, name: str, maxlen: int | None = None) -> Deque[Any]:
        """The `Deque` of this name, in a folder of the directory."""
        return self._cache.deque(name, maxlen=maxlen)

    def index(self, name: str) -> Index[Any, Any]:
        """The `Index` of this name, in a folder of the directory."""
        return self._cache.index(name)

    def add(
        self,
        key: Any,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: Any = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = True,
    ) -> bool:
        """Stores a value if the key has none. True if it was stored."""
        try:
            return self._cache.add(*self._timed(key, value, timeout, version), read, tag, retry)
        except PickleNeeded as error:
            raise _told(error) from None

    def get(
        self,
        key: Any,
        default: Any = None,
        version: Any = None,
        read: bool = False,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """The key's value, or `default`; see `Cache.get`."""
        key = self.make_key(key, version=version)
        try:
            return self._cache.get(key, default, read, expire_time, tag, retry)
        except PickleNeeded as error:
            raise _told(error) from None

    def read(self, key: Any, version: Any = None) -> BinaryIO:
        """A file to read the key's value from. Raises KeyError."""
        return self._cache.read(self.make_key(key, version=version))

    def set(
        self,
        key: Any,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: Any = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = True,
    ) -> bool:
        """Stores a value; see `Cache.set`."""
        try:
            return self._cache.set(*self._timed(key, value, timeout, version), read, tag, retry)
        except PickleNeeded as error:
            raise _told(error) from None

    def _timed(self, key: Any, value: Any, timeout: Any, version: Any) -> tuple[Any, Any, Any]:
        key = self.make_key(key, version=version)
        return key, value, self.get_backend_timeout(timeout)

    def touch(
        self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: Any = None, retry: bool = True
    ) -> bool:
        """Gives the key another time to live. True when it has a value."""
        key = self.make_key(key, version=version)
        return self._cache.touch(key, self.get_backend_timeout(timeout), retry)

    def pop(
        self,
        key: Any,
        default: Any = None,
        version: Any = None,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = True,
    ) -> Any:
        """Deletes the key and returns its value, or `default`."""
        key = self.make_key(key, version=version)
        try:
            return self._cache.pop(key, default, expire_time, tag, retry)
        except PickleNeeded as error:
            raise _told(error) from None

    def delete(self, key: Any, version: Any = None, retry: bool = True) -> bool:
        """Deletes the key. True when it had a value."""
        return self._cache.delete(self.make_key(key, version=version), retry)

    def incr(
        self,
        key: Any,
        delta: int = 1,
        version: Any = None,
        default: float | None = None,
        retry: bool = True,
    ) -> Any:
        """Adds to the key's number, atomically, and returns the sum. Raises ValueError for a key
        without a value, when `default` is None."""
        key = self.make_key(key, version=version)
        try:
            return self._cache.incr(key, delta, default, retry)
        except KeyError:
            raise ValueError(f"Key {key!r} not found") from None

    def decr(
        self,
        key: Any,
        delta: int = 1,
        version: Any = None,
        default: float | None = None,
        retry: bool = True,
    ) -> Any:
        """Subtracts from the key's number; see `incr`."""
        return self.incr(key, -delta, version, default, retry)

    def has_key(self, key: Any, version: Any = None) -> bool:
        """True when the key has a value."""
        return self.make_key(key, version=version) in self._cache

    def expire(self) -> int:
        """See `Cache.expire`."""
        return self._cache.expire()

    def stats(self, enable: bool = True, reset: bool = False) -> tuple[int, int]:
        """See `Cache.stats`."""
        return self._cache.stats(enable, reset)

    def create_tag_index(self) -> None:
        """See `Cache.create_tag_index`."""
        self._cache.create_tag_index()

    def drop_tag_index(self) -> None:
        """See `Cache.drop_tag_index`."""
        self._cache.drop_tag_index()

    def evict(self, tag: Any) -> int:
        """See `Cache.evict`."""
        return self._cache.evict(tag)

    def cull(self) -> int:
        """See `Cache.cull`."""
        return self._cache.cull()

    def clear(self) -> int:
        """See `Cache.clear`."""
        return self._cache.clear()

    def close(self, **kwargs: Any) -> None:
        """Does nothing: Django calls it after each request, and the next one would open the
        directory again."""

    def get_backend_timeout(self, timeout: Any = DEFAULT_TIMEOUT) -> float | None:
        """Seconds to live: Django's default, None for ever, or less than 0 for 0."""
        if timeout is DEFAULT_TIMEOUT:
            timeout = self.default_timeout
        return None if timeout is None else timeout or -1

    def memoize(
        self,
        name: str | None = None,
        timeout: Any = DEFAULT_TIMEOUT,
        version: Any = None,
        typed: bool = False,
        tag: Any = None,
        ignore: Collection[int | str] = (),
    ) -> Callable[[F], F]:
        """A decorator that stores what a function returns; see `Cache.memoize`."""

        def find(key: Any) -> Any:
            return self.get(key, ENOVAL, version, retry=True)

        def store(key: Any, result: Any) -> None:
            seconds = self.get_backend_timeout(timeout)
            if seconds is None or seconds > 0:
                self.set(key, result, timeout, version, tag=tag, retry=True)

        return decorator_of(self, name, typed, ignore, find, store)


def _told(error: PickleNeeded) -> PickleNeeded:
    """The error, naming what there is to set in a Django project."""
    return PickleNeeded(str(error).replace(HOW_TO_PICKLE, HOW_TO_PICKLE_IN_DJANGO), error.path)
