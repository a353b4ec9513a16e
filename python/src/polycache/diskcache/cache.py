"""diskcache's `Cache` over the host store."""

from collections.abc import Callable, Collection
from typing import Any, BinaryIO, TypeVar, cast

from .clock import timestamp
from .constants import ENOVAL, EVICTION_POLICY, MODE_RAW
from .memoizing import memoized
from .plain import expires_at, plain_number
from .queues import Queues
from .rows import asked_for, lives
from .store import EXPIRES, MODE, STORED, TAG, VALUE

F = TypeVar("F", bound=Callable[..., Any])


class Cache(Queues):
    """A cache in a directory, with diskcache's operations.

    `directory` is made if it is missing; None is a new temporary one, which stays. `timeout` is how
    many seconds a write waits for the writers before it (`Timeout`); reads never wait. `disk` is a
    subclass of `Disk`. The settings are those of `DEFAULT_SETTINGS`; the directory keeps them, and
    those that are given replace them.

    Keys and values are those of the type map of `polycache.Cache`; tuples are kept apart from lists
    in keys, and come back as lists in values. With `pickle_secret` all others are pickled and
    sealed: `polycache.diskcache.use_pickle` says how. Without, they raise `PickleNeeded`.

    Any thread and any process may use the directory at once, and a cache goes on in a forked child.
    Raises `InvalidArgument`, and what opening a `polycache.Cache` raises.
    """

    def set(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool:
        """Stores a value. `expire` is in seconds; with `read` the value is a file to read bytes
        from; `tag` is for `evict`.

        Raises `PickleNeeded`, `Timeout` (unless `retry`), and what a write of `polycache.Cache`
        raises.
        """
        code, seal = self._code(key)
        now = timestamp()
        row = self._row(code, key, value, read, now, expires_at(now, expire), tag)
        with self._writing(retry) as store:
            self._put(store, code, seal, row)
            self._cull(store, now)
        return True

    def __setitem__(self, key: Any, value: Any) -> None:
        self.set(key, value, retry=True)

    def add(
        self,
        key: Any,
        value: Any,
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> bool:
        """Stores a value if the key has none. True for one of several callers. See `set`."""
        code, seal = self._code(key)
        now = timestamp()
        row = self._row(code, key, value, read, now, expires_at(now, expire), tag)
        with self._writing(retry) as store:
            old = store.row(code)
            if old is not None and lives(old, now):
                return False
            self._put(store, code, seal, row)
            self._cull(store, now)
        return True

    def incr(
        self, key: Any, delta: float = 1, default: float | None = 0, retry: bool = False
    ) -> Any:
        """Adds to the key's number and returns the sum; a key without a value counts as `default`.
        No addition is lost. The value keeps its expiry and its tag.

        Raises KeyError for a key without a value when `default` is None, TypeError for a value that
        is no number, and what `set` raises.
        """
        code, seal = self._code(key)
        delta = plain_number(delta)
        now = timestamp()
        with self._writing(retry) as store:
            old = store.row(code)
            if old is None or (old[EXPIRES] is not None and old[EXPIRES] < now):
                if default is None:
                    raise KeyError(key)
                value = plain_number(default) + delta
                row = self._row(code, key, value, False, now, None, None)
                self._put(store, code, seal, row)
                self._cull(store, now)
                return value
            # What a disk of the program made of a number is none.
            if old[MODE] != MODE_RAW or not isinstance(old[VALUE], int | float):
                raise TypeError(f"the value of {key!r:.60} is not a number")
            value = old[VALUE] + delta
            row = [*old]
            row[VALUE], row[STORED] = value, now
            self._use(row, now)
            store.replace(code, old, row)
            return value

    def decr(
        self, key: Any, delta: float = 1, default: float | None = 0, retry: bool = False
    ) -> Any:
        """Subtracts from the key's number and returns what is left; see `incr`."""
        return self.incr(key, -plain_number(delta), default, retry)

    def touch(self, key: Any, expire: float | None = None, retry: bool = False) -> bool:
        """Gives the key another expiry, in seconds from now. True when it has a value."""
        code, _ = self._code(key)
        now = timestamp()
        with self._writing(retry) as store:
            old = store.row(code)
            if old is None or not lives(old, now):
                return False
            row = [*old]
            row[EXPIRES] = expires_at(now, expire)
            store.replace(code, old, row)
        return True

    def pop(
        self,
        key: Any,
        default: Any = None,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """Deletes the key and returns its value, or `default`. One of several callers gets it."""
        code, _ = self._code(key)
        with self._writing(retry) as store:
            row = store.row(code)
            if row is None or not lives(row, timestamp()):
                return asked_for(default, None, None, expire_time, tag)
            raw = self._unsealed(store, code, row)
            store.remove(code, row)
        if raw is ENOVAL:
            return asked_for(default, None, None, expire_time, tag)
        return asked_for(self._loaded(row, raw, False), row[EXPIRES], row[TAG], expire_time, tag)

    def delete(self, key: Any, retry: bool = False) -> bool:
        """Deletes the key. True when it had a value."""
        code, _ = self._code(key)
        with self._writing(retry) as store:
            row = store.row(code)
            if row is None or not lives(row, timestamp()):
                return False
            store.remove(code, row)
        return True

    def __delitem__(self, key: Any, retry: bool = True) -> bool:
        if not self.delete(key, retry):
            raise KeyError(key)
        return True

    def get(
        self,
        key: Any,
        default: Any = None,
        read: bool = False,
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """The key's value, or `default`. With `read` a file to read it from; with `expire_time`
        and `tag` a tuple with these.

        Raises `PickleNeeded` for a pickle when pickle was not asked for, `InvalidSeal` for one that
        was changed, and what a read of `polycache.Cache` raises.
        """
        code, _ = self._code(key)
        if self.statistics or EVICTION_POLICY[self.eviction_policy] in (
            "access_time",
            "access_count",
        ):
            with self._writing(retry) as store:
                row, value = self._found(store, code, read)
                if self.statistics:
                    if row is None:
                        store.numbers.misses += 1
                    else:
                        store.numbers.hits += 1
                if row is not None:
                    used = [*row]
                    if self._use(used, timestamp()):
                        store.replace(code, row, used)
        else:
            row, value = self._found(self._opened(), code, read)
        if row is None:
            if expire_time or tag:
                return asked_for(default, None, None, expire_time, tag)
            return default
        if expire_time or tag:
            return asked_for(value, row[EXPIRES], row[TAG], expire_time, tag)
        return value

    def __getitem__(self, key: Any) -> Any:
        value = self.get(key, ENOVAL, retry=True)
        if value is ENOVAL:
            raise KeyError(key)
        return value

    def read(self, key: Any, retry: bool = False) -> BinaryIO:
        """A file to read the key's value from. Raises KeyError."""
        handle = self.get(key, ENOVAL, read=True, retry=retry)
        if handle is ENOVAL:
            raise KeyError(key)
        return cast(BinaryIO, handle)

    def __contains__(self, key: Any) -> bool:
        row = self._opened().row(self._code(key)[0])
        return row is not None and lives(row, timestamp())

    def __len__(self) -> int:
        return self._opened().count

    def memoize(
        self,
        name: str | None = None,
        typed: bool = False,
        expire: float | None = None,
        tag: Any = None,
        ignore: Collection[int | str] = (),
    ) -> Callable[[F], F]:
        """A decorator that stores what a function, or a coroutine function, returns, under its
        arguments. `expire=0` stores nothing. The function has `__wrapped__` and `__cache_key__`."""
        return memoized(self, name, typed, expire, tag, ignore)
