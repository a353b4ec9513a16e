"""A directory in use: its settings, its statistics, and the blocks in which a thread writes."""

import os
import warnings
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from ..errors import InvalidArgument
from .constants import DEFAULT_SETTINGS, ENOVAL
from .disk import Disk
from .disk_space import OWN_BYTES, fitting
from .foreign import refuse_foreign
from .pickling import Pickling, Secret, default_pickling
from .settings import NUMBERS, checked, least_limit, limit_of_store, resolved
from .store import Store

F = TypeVar("F", bound=Callable[..., Any])


class Handle:
    """A directory, with its disk and its settings."""

    statistics: int
    tag_index: int
    eviction_policy: str
    size_limit: float
    cull_limit: int
    disk_min_file_size: int
    disk_pickle_protocol: int

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        timeout: float = 60,
        disk: type[Disk] = Disk,
        *,
        pickle_secret: Secret | None = None,
        **settings: Any,
    ) -> None:
        if not (isinstance(disk, type) and issubclass(disk, Disk)):
            raise ValueError("disk must subclass polycache.diskcache.Disk")
        # One that has no settings of its own refuses them.
        self._disk_has_settings = disk.__init__ is not Disk.__init__
        for name, value in settings.items():
            checked(name, value, self._disk_has_settings)
        self._directory = resolved(directory)
        self._timeout = timeout
        self._has_secret = pickle_secret is not None
        self._pickling = default_pickling() if pickle_secret is None else Pickling(pickle_secret)
        self._store: Store | None = None
        self._held: Store | None = None
        os.makedirs(self._directory, 0o755, exist_ok=True)
        refuse_foreign(self._directory)
        wanted = {**DEFAULT_SETTINGS, **settings}
        self._limit = fitting(limit_of_store(wanted), least_limit(wanted), self._directory)
        kept = self._opened().meta.get("settings") or {}
        now = {**DEFAULT_SETTINGS, **kept, **settings}
        if now != kept:
            self._opened().meta.set("settings", now)
        for name, value in now.items():
            setattr(self, name, value)
        for_disk = {
            name[5:]: value
            for name, value in now.items()
            # Those of another disk are kept for it.
            if name.startswith("disk_") and (name in DEFAULT_SETTINGS or self._disk_has_settings)
        }
        self._disk = disk(self._directory, **for_disk)
        self._disk.pickling = self._pickling
        self._is_plain = disk is Disk

    def _opened(self) -> Store:
        # A thread in a block goes on with the store that it locked, whoever closes the cache.
        held = self._held
        if held is not None and held.is_mine():
            return held
        store = self._store
        if store is None:
            store = self._store = Store(self._directory, self._limit)
        return store

    @property
    def directory(self) -> str:
        """The cache's directory."""
        return self._directory

    @property
    def timeout(self) -> float:
        """Seconds that a write waits for others."""
        return self._timeout

    @property
    def disk(self) -> Disk:
        """Turns keys and values into what is stored."""
        return self._disk

    def transact(self, retry: bool = False) -> "Block":
        """A block in which no other thread or process writes. What it changes is there for others
        when it ends, all at once for whoever is killed meanwhile, and not at all when it raises.
        As a decorator it makes each call of a function one.

        Blocks may be nested; the outermost one counts. Raises `Timeout`, unless `retry`.
        """
        return self._writing(retry, together=True)

    def _writing(self, retry: bool = True, together: bool = False) -> "Block":
        return Block(self, None if retry else self._timeout, together)

    def reset(self, key: str, value: Any = ENOVAL, update: bool = True) -> Any:
        """Sets a setting for the directory and this object, and returns it; without `value` reads
        it, or one of "count", "size", "hits" and "misses", from the directory."""
        store = self._opened()
        if key in NUMBERS:
            if value is not ENOVAL and key in ("hits", "misses"):
                with self._writing() as store:
                    setattr(store.numbers, key, value)
            found: Any = getattr(store.numbers, key)
        else:
            with self._writing() as store:
                settings = store.meta.get("settings") or {}
                if value is ENOVAL:
                    found = settings.get(key, DEFAULT_SETTINGS.get(key))
                    checked(key, found, self._disk_has_settings)
                else:
                    found = checked(key, value, self._disk_has_settings)
                    if update:
                        store.meta.set("settings", {**settings, key: found})
            if key.startswith("disk_"):
                setattr(self._disk, key[5:], found)
        if key not in NUMBERS:  # Those are read from the directory each time.
            setattr(self, key, found)
        return found

    @property
    def count(self) -> int:
        """How many entries there are, with expired ones."""
        return self._opened().count

    @property
    def size(self) -> int:
        """Bytes of the entries, by an estimate."""
        return self._opened().numbers.size

    @property
    def hits(self) -> int:
        """Since `statistics` were enabled or reset, by all processes."""
        return self._opened().numbers.hits

    @property
    def misses(self) -> int:
        """Since `statistics` were enabled or reset, by all processes."""
        return self._opened().numbers.misses

    def stats(self, enable: bool = True, reset: bool = False) -> tuple[int, int]:
        """Hits and misses since they were enabled or `reset`, by all processes."""
        numbers = self._opened().numbers
        result = (numbers.hits, numbers.misses)
        if reset:
            self.reset("hits", 0)
            self.reset("misses", 0)
        self.reset("statistics", enable)
        return result

    def volume(self) -> int:
        """Bytes that the directory takes, by an estimate that is not below what it takes."""
        return volume_of(self._opened().numbers.size)

    def check(self, fix: bool = False, retry: bool = False) -> list[warnings.WarningMessage]:
        """Verifies every entry against its checksum, and that order, entries and counts agree.
        Returns warnings; with `fix` it mends what it can."""
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with self._writing(retry) as store:
                for damage in store.damages():
                    warnings.warn(damage, stacklevel=1)
                if fix:
                    store.mend_now()
        return found

    def create_tag_index(self) -> None:
        """Sets `tag_index`, which has no effect here."""
        self.reset("tag_index", 1)

    def drop_tag_index(self) -> None:
        """Sets `tag_index`, which has no effect here."""
        self.reset("tag_index", 0)

    def close(self) -> None:
        """Closes the directory. The next use opens it again."""
        self._store = None  # A thread that is using it keeps it until it is done.

    def __enter__(self) -> Self:
        self._opened()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __getstate__(self) -> tuple[Any, ...]:
        if self._has_secret:
            raise InvalidArgument(
                "a cache with pickle_secret cannot be pickled: the pickle would hold the secret; "
                "call use_pickle(secret) in both processes instead"
            )
        return (self.directory, self.timeout, type(self.disk))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<polycache.diskcache.{type(self).__name__} {self._directory!r}>"


class Block:
    """`with` this, a thread writes. As a decorator it makes each call of a function a block."""

    __slots__ = ("_cache", "_store", "_timeout", "_together")

    def __init__(self, cache: Handle, timeout: float | None, together: bool = False) -> None:
        self._cache = cache
        self._timeout = timeout
        self._together = together

    def __enter__(self) -> Store:
        store = self._store = self._cache._opened()
        store.begin(self._timeout, self._together)
        self._cache._held = store
        return store

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        store = self._store
        if store.is_mine() and not store.is_nested:
            # Before the next thread may be in a block of its own.
            self._cache._held = None
        store.end(kind is not None)

    def __call__(self, function: F) -> F:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            # Of its own, so that calls may be nested, and of several threads at once.
            with Block(self._cache, self._timeout, self._together):
                return function(*args, **kwargs)

        return cast(F, wrapper)


def volume_of(size: int) -> int:
    """Bytes of a directory whose rows have so many."""
    # A part of the space is of deleted entries, which the host store uses again.
    return OWN_BYTES + size * 5 // 3
