"""diskcache's `FanoutCache`: one directory, because our writers wait for each other briefly."""

import os
from collections.abc import Callable, Collection, Iterator
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar
from warnings import WarningMessage

from ..errors import InvalidArgument
from .cache import Cache
from .constants import DEFAULT_SETTINGS, ENOVAL
from .deque import Deque
from .disk import Disk
from .errors import Timeout
from .handle import Block
from .index import Index
from .memoizing import memoized
from .pickling import Pickling, Secret
from .settings import resolved

F = TypeVar("F", bound=Callable[..., Any])


class FanoutCache:
    """`Cache` with other defaults: a write that has waited `timeout` for other writers gives up in
    silence, unless `retry` is True, and returns what it returns when nothing was done.

    There are no `shards`, but as one lock stands for those of so many databases, a write waits so
    many times as long. `cache`, `deque` and `index` are in folders of the
    directory.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        shards: int = 8,
        timeout: float = 0.010,
        disk: type[Disk] = Disk,
        *,
        pickle_secret: Secret | None = None,
        **settings: Any,
    ) -> None:
        self._count = shards
        self._secret = pickle_secret
        self._directory = resolved(directory)
        self._kind = disk
        self._timeout = timeout
        self._cache = Cache(
            self._directory,
            timeout * max(shards, 1),
            disk,
            pickle_secret=pickle_secret,
            **settings,
        )
        self._caches: dict[str, Cache] = {}
        self._deques: dict[str, Deque[Any]] = {}
        self._indexes: dict[str, Index[Any, Any]] = {}

    @property
    def directory(self) -> str:
        """The cache's directory."""
        return self._directory

    @property
    def timeout(self) -> float:
        """Seconds that a write waits, for each of `shards`."""
        return self._timeout

    @property
    def _pickling(self) -> Pickling | None:
        return self._cache._pickling

    def __getattr__(self, name: str) -> Any:
        if name in DEFAULT_SETTINGS or name == "disk":
            return getattr(self._cache, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def transact(self, retry: bool = True) -> Block:
        """See `Cache.transact`; `retry` is True."""
        if not retry:
            raise AssertionError("retry must be True in FanoutCache")
        return self._cache.transact(retry=True)

    def set(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool:
        """See `Cache.set`. False when it gave up."""
        return bool(_quietly(self._cache.set, False, key, value, expire, read, tag, retry))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._cache[key] = value

    def touch(self, key: Any, expire: float | None = None, retry: bool = False) -> bool:
        """See `Cache.touch`. False when it gave up."""
        return bool(_quietly(self._cache.touch, False, key, expire, retry))

    def add(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool:
        """See `Cache.add`. False when it gave up."""
        return bool(_quietly(self._cache.add, False, key, value, expire, read, tag, retry))

    def incr(
        self, key: Any, delta: float = 1, default: float | None = 0, retry: bool = False
    ) -> Any:
        """See `Cache.incr`. None when it gave up."""
        return _quietly(self._cache.incr, None, key, delta, default, retry)

    def decr(
        self, key: Any, delta: float = 1, default: float | None = 0, retry: bool = False
    ) -> Any:
        """See `Cache.decr`. None when it gave up."""
        return _quietly(self._cache.decr, None, key, delta, default, retry)

    def get(
        self,
        key: Any,
        default: Any = None,
        read: bool = False,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """See `Cache.get`. `default` when it gave up."""
        return _quietly(self._cache.get, default, key, default, read, expire_time, tag, retry)

    def __getitem__(self, key: Any) -> Any:
        return self._cache[key]

    def read(self, key: Any) -> BinaryIO:
        """See `Cache.read`."""
        return self._cache.read(key, retry=True)

    def __contains__(self, key: Any) -> bool:
        return key in self._cache

    def pop(
        self,
        key: Any,
        default: Any = None,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """See `Cache.pop`. `default` when it gave up."""
        return _quietly(self._cache.pop, default, key, default, expire_time, tag, retry)

    def delete(self, key: Any, retry: bool = False) -> bool:
        """See `Cache.delete`. False when it gave up."""
        return bool(_quietly(self._cache.delete, False, key, retry))

    def __delitem__(self, key: Any) -> None:
        del self._cache[key]

    def check(self, fix: bool = False, retry: bool = False) -> list[WarningMessage]:
        """See `Cache.check`."""
        return self._cache.check(fix, retry)

    def expire(self, retry: bool = False) -> int:
        """See `Cache.expire`; it waits for other writers."""
        return self._cache.expire(retry=True)

    def evict(self, tag: Any, retry: bool = False) -> int:
        """See `Cache.evict`; it waits for other writers."""
        return self._cache.evict(tag, retry=True)

    def cull(self, retry: bool = False) -> int:
        """See `Cache.cull`; it waits for other writers."""
        return self._cache.cull(retry=True)

    def clear(self, retry: bool = False) -> int:
        """See `Cache.clear`; it waits for other writers."""
        return self._cache.clear(retry=True)

    def create_tag_index(self) -> None:
        """See `Cache.create_tag_index`."""
        self._cache.create_tag_index()

    def drop_tag_index(self) -> None:
        """See `Cache.drop_tag_index`."""
        self._cache.drop_tag_index()

    def stats(self, enable: bool = True, reset: bool = False) -> tuple[int, int]:
        """See `Cache.stats`."""
        return self._cache.stats(enable, reset)

    def volume(self) -> int:
        """See `Cache.volume`."""
        return self._cache.volume()

    def reset(self, key: str, value: Any = ENOVAL) -> Any:
        """See `Cache.reset`."""
        return self._cache.reset(key, value)

    def __iter__(self) -> Iterator[Any]:
        """Keys in the order of insertion, expired ones too."""
        return iter(self._cache)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._cache)

    def __len__(self) -> int:
        return len(self._cache)

    def close(self) -> None:
        """See `Cache.close`."""
        self._cache.close()
        self._caches.clear()
        self._deques.clear()
        self._indexes.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __getstate__(self) -> tuple[Any, ...]:
        self._cache.__getstate__()  # Refuses a secret.
        return (self._directory, self._count, self._timeout, self._kind)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def memoize(
        self,
        name: str | None = None,
        typed: bool = False,
        expire: float | None = None,
        tag: Any = None,
        ignore: Collection[int | str] = (),
    ) -> Callable[[F], F]:
        """See `Cache.memoize`."""
        return memoized(self, name, typed, expire, tag, ignore)

    def cache(
        self, name: str, timeout: float = 60, disk: type[Disk] | None = None, **settings: Any
    ) -> Cache:
        """The `Cache` of this name; "/" in it stands for a folder."""
        if name not in self._caches:
            self._caches[name] = Cache(
                self._folder("cache", name),
                timeout,
                self._kind if disk is None else disk,
                pickle_secret=self._secret,
                **settings,
            )
        return self._caches[name]

    def deque(self, name: str, maxlen: int | None = None) -> Deque[Any]:
        """The `Deque` of this name."""
        if name not in self._deques:
            self._deques[name] = Deque.fromcache(self._lasting("deque", name), maxlen=maxlen)
        return self._deques[name]

    def index(self, name: str) -> Index[Any, Any]:
        """The `Index` of this name."""
        if name not in self._indexes:
            self._indexes[name] = Index.fromcache(self._lasting("index", name))
        return self._indexes[name]

    def _lasting(self, kind: str, name: str) -> Cache:
        return Cache(
            self._folder(kind, name),
            disk=self._kind,
            pickle_secret=self._secret,
            eviction_policy="none",
        )

    def _folder(self, kind: str, name: str) -> str:
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise InvalidArgument(f"{name!r} is no name of a folder")
        return os.path.join(self._directory, kind, *parts)


def _quietly(call: Callable[..., Any], instead: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Timeout:
        return instead
