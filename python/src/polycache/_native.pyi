"""The native extension (python/native). Import from `polycache` instead."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, Unpack, overload

from .durations import Duration
from .lifetime import Ttl
from .memory_cache_options import MemoryCacheOptions
from .missing import Missing
from .options import EncryptionKey

class Cache:
    """The native half of `polycache.Cache`."""

    def __new__(
        cls, path: str | PathLike[str] | Missing | Cache, options: Mapping[str, object], /
    ) -> Self: ...
    def get(self, key: str | bytes, default: Any = None) -> Any:
        """The value of the key, or `default` when there is none.

        Each caller gets its own lists, dicts and sets, unless the memory tier shares them. A stored
        None is a value: `default=polycache.MISSING` tells it from a miss. Raises `MalformedEntry`,
        `UnsupportedSerializer` and others for an entry that cannot be read.
        """
    def __getitem__(self, key: str | bytes, /) -> Any: ...
    def __setitem__(self, key: str | bytes, value: Any, /) -> None: ...
    def __delitem__(self, key: str | bytes, /) -> None: ...
    def peek(self, key: str | bytes, default: Any = None) -> Any:
        """The value of the key as `get` gives it, without using the entry: it is not counted and
        fills no memory tier.
        """
    def take(self, key: str | bytes, default: Any = None) -> Any:
        """Deletes the key and returns its value, or `default` when it has none. Of all callers in
        all processes one gets it.

        An entry that cannot be read raises what `get` raises, and stays. Counted as a read and a
        delete; like `delete`, it invalidates loads of the key.
        """
    def set(
        self,
        key: str | bytes,
        value: Any,
        *,
        ttl: Duration | Missing | None = ...,
        expires_at: datetime | None = None,
    ) -> None:
        """Stores a value; every read on this machine that begins afterwards sees it or a later one.

        `ttl` is how long the entry lives: text like "5m", seconds, or a timedelta; None is for
        ever. Default: the cache's own `ttl`. `expires_at` is a time instead, a datetime with a time
        zone. Raises `InvalidArgument` and `UnsupportedValue`, which change nothing, and
        `EntryTooLarge`, `NoSpace` or `IoError`, after which the old value is gone as well.

        A file that is open for reading bytes, or anything else with their `read`, is read to its
        end and stored as bytes, in memory of constant size where `open` writes so.
        """
    def delete(self, key: str | bytes) -> bool:
        """Deletes the key and invalidates all loads of it under way. True when it had an entry."""
    def delete_prefix(self, prefix: str | bytes) -> int:
        """Deletes the keys of this namespace, without those nested in it, that begin with `prefix`,
        and returns how many entries it deleted. Keys written meanwhile may stay.
        """
    def touch(
        self,
        key: str | bytes,
        *,
        ttl: Duration | Missing | None = ...,
        expires_at: datetime | None = None,
    ) -> bool:
        """Gives the key's entry another time to live from now on: the cache's own without `ttl`,
        None for ever; or, by `expires_at`, a time to expire at. True when there is an entry. Its
        value is not decoded.

        A set, delete or clear meanwhile wins. Not counted.
        """
    def has(self, key: str | bytes) -> bool:
        """True when the key has an entry; its value is not decoded. The same as `key in cache`."""
    def __contains__(self, key: str | bytes) -> bool: ...
    def ttl(self, key: str | bytes) -> float | None:
        """Seconds that the entry has left: infinite when it does not expire, None for a miss."""
    def get_many(self, keys: Iterable[str | bytes]) -> dict[str | bytes, Any]:
        """The values of the keys that have one, in a dict, under the keys as they were given."""
    def set_many(
        self,
        entries: Mapping[str, Any] | Mapping[bytes, Any],
        *,
        ttl: Duration | Missing | None = ...,
        expires_at: datetime | None = None,
    ) -> None:
        """Stores every value of a mapping, in its order, with one time to live.

        Raises what `set` raises; the entries before the one that failed stay.
        """
    def delete_many(self, keys: Iterable[str | bytes]) -> int:
        """Deletes several keys, and returns how many of them had an entry."""
    def clear(self) -> None:
        """Clears this namespace and those nested in it, at once; loads under way are not stored."""
    def flush(self) -> None:
        """Writes the directory to its disk, and waits for it: a power loss undoes nothing that
        was done before."""
    def close(self) -> None:
        """Closes the handle and every namespace made from it. Closing again does nothing."""
    @property
    def closed(self) -> bool:
        """True after `close`."""
    @property
    def path(self) -> Path | None:
        """The cache's directory, absolute; None without one."""

    # What polycache.Cache and AsyncCache are built from.
    def _hit(self, key: str | bytes, ttl: Ttl) -> Any: ...
    def _hits(self, keys: Iterable[Any], ttl: Ttl) -> tuple[list[Any], dict[Any, Any]]: ...
    def _entry(self, key: str | bytes) -> dict[str, Any] | None: ...
    def _begin(self, key: str | bytes, task: Any, waited: float) -> Load: ...
    def _copy_of(self, value: Any, /) -> Any: ...
    def _give_up(self) -> None: ...
    @property
    def _wait_timeout(self) -> float: ...
    def _loads(self) -> list[Load]: ...
    def _encode_arguments(self, arguments: list[Any] | tuple[Any, ...], /) -> bytes: ...
    def _lock(self, key: str | bytes) -> Lock: ...
    def _keys_page(
        self, prefix: str | bytes, cursor: int
    ) -> tuple[list[str | bytes], int | None]: ...
    def _stats(self) -> dict[str, Any]: ...
    def _machine_stats(self) -> dict[str, Any] | None: ...
    def _remote_stats(self) -> dict[str, Any] | None: ...
    def _usage(self, most: int) -> list[dict[str, Any]] | None: ...
    def _check(self) -> dict[str, Any]: ...

class Lifetime:
    """The arguments `ttl` and `expires_at`, to be read where a `ttl` is."""

    def __new__(cls, ttl: Duration | Missing | None, expires_at: datetime) -> Self: ...

class Found:
    """What an update found at a key."""

UPDATE_ATTEMPTS: int

def add(cache: Cache, key: str | bytes, value: Any, ttl: Ttl) -> bool: ...
def replace(cache: Cache, key: str | bytes, value: Any, ttl: Ttl) -> bool: ...
def compare_and_set(cache: Cache, key: str | bytes, version: int, value: Any, ttl: Ttl) -> bool: ...
def find_to_update(cache: Cache, key: str | bytes, ttl: Ttl) -> tuple[Any, Found]: ...
def set_found(cache: Cache, key: str | bytes, found: Found, value: Any, ttl: Ttl) -> bool: ...
def delete_found(cache: Cache, key: str | bytes, found: Found) -> bool: ...
def begin_file(
    cache: Cache, key: str | bytes, ttl: Ttl
) -> tuple[tuple[int, str | None] | None, int, int, int]: ...
def put_file(
    cache: Cache, key: str | bytes, file: tuple[int, str | None], crc: int, length: int, ttl: Ttl
) -> None: ...
def open_file(cache: Cache, key: str | bytes) -> tuple[int, int, int, str] | None: ...
def count(cache: Cache, key: str | bytes, by: int, down: bool, initial: int, ttl: Ttl) -> int: ...

class Load:
    """A caller's part in a load: its own, or one that it joined. `loading.py` drives it."""

    @property
    def mine(self) -> bool: ...
    @property
    def key(self) -> Any: ...
    @property
    def waiting(self) -> int: ...
    @property
    def patience(self) -> float: ...
    @property
    def is_waited_for(self) -> bool: ...
    @property
    def is_absent(self) -> bool: ...
    def step(self) -> tuple[Any] | float | None: ...
    def fill(self, value: Any, ttl: Ttl, reports: bool) -> Any: ...
    def fail(self, error: BaseException) -> None: ...
    def abandon(self) -> None: ...
    def leave_out(self) -> None: ...
    def wake(self, wake: Callable[[], object]) -> bool: ...
    def let_sleep(self, wake: Callable[[], object]) -> None: ...
    def answer(self) -> Any: ...
    def is_run_by(self, caller: Any) -> bool: ...
    def is_blocked_by(self, caller: Any) -> bool: ...
    def is_elsewhere(self, event_loop: Any) -> bool: ...
    def await_by(self, loads: list[Load]) -> bool: ...
    def await_no_more(self, loads: list[Load]) -> None: ...

class Lock:
    def attempt(self, wait: bool | Duration) -> Attempt: ...
    def release(self) -> None: ...
    def locked(self) -> bool: ...

class Attempt:
    def step(self) -> bool | float: ...

def forked() -> None: ...

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

class EngineOptions(MemoryCacheOptions, total=False):
    """Those of the drop-in modules are private."""

    _maxsize: int | None
    _getsizeof: Callable[[Any], int] | None

class MemoryCache(Generic[K, V]):
    """The native half of `polycache.MemoryCache`."""

    def __new__(cls, max_entries: int | None = ..., **options: Unpack[EngineOptions]) -> Self: ...
    def __getitem__(self, key: K, /) -> V: ...
    def __setitem__(self, key: K, value: V, /) -> None: ...
    def __delitem__(self, key: K, /) -> None: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[K]: ...
    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V | D, /) -> V | D: ...
    @overload
    def peek(self, key: K, /) -> V | None:
        """As `get`, but not a use of the entry, and not counted."""
    @overload
    def peek(self, key: K, default: V | D, /) -> V | D: ...
    def has(self, key: K, /) -> bool:
        """True when the key has an entry; not a use of it. The same as `key in cache`."""
    @overload
    def take(self, key: K, /) -> V | None:
        """Deletes the key and returns its value, or `default` when it has none. Only one of several
        callers gets it. Counted as a read; like `delete`, it invalidates a load of the key.
        """
    @overload
    def take(self, key: K, default: V | D, /) -> V | D: ...
    def increment(self, key: K, by: float = ..., /) -> V:
        """Adds to the key's number, which is 0 if it has none, and returns the sum. The entry keeps
        its time to live. No addition is lost.

        Raises `WrongType` when the value is not an int or a finite float, and `InvalidArgument`
        when `by` or the sum is not.
        """
    def decrement(self, key: K, by: float = ..., /) -> V:
        """As `increment`, downwards."""
    def set(self, key: K, value: V, *, ttl: Duration | Missing | None = ...) -> None:
        """Stores a value; every read that begins afterwards sees it or a later one.

        `ttl` is how long the entry lives: text like "5m", seconds, or a timedelta; None is for
        ever. Default: the cache's own `ttl`. Raises `InvalidArgument`, `UnsupportedValue` (with
        `isolation="clone"`) and `EntryTooLarge`, which change nothing.
        """
    def setdefault(self, key: K, default: V = ..., /) -> V:
        """The key's value; when it has none, `default`, which is then stored."""
    def delete(self, key: K, /) -> bool:
        """Deletes the key and invalidates its loads. True when it had an entry."""
    def touch(self, key: K, *, ttl: Duration | Missing | None = ...) -> bool:
        """Gives the key's entry another time to live from now on, the cache's own without `ttl`,
        and uses it. True when there is an entry.
        """
    def ttl(self, key: K, /) -> float | None:
        """Seconds that the key's entry has left, to live or to idle: infinite when it does not
        expire, None when there is none. Not a use of it.
        """
    def get_many(self, keys: Iterable[K], /) -> dict[K, V]:
        """The values of the keys that have one, in a dict."""
    def set_many(self, entries: Mapping[K, V], *, ttl: Duration | Missing | None = ...) -> None:
        """Stores every value of a mapping, in its order, with one time to live.

        Raises what `set` raises; the entries before the one that failed stay.
        """
    def delete_many(self, keys: Iterable[K], /) -> int:
        """Deletes several keys, and returns how many of them had an entry."""
    def clear(self) -> None:
        """Deletes all entries, and invalidates all loads under way."""
    def purge_expired(self) -> None:
        """Removes all expired entries. Each write removes a few."""
    @property
    def max_entries(self) -> int | None:
        """The most entries that may be held; None: any number."""
    @property
    def max_bytes(self) -> int | None:
        """The most bytes that entries may weigh together; None when they are not weighed."""
    @property
    def bytes(self) -> int:
        """The bytes that all entries weigh together; 0 when they are not weighed."""

    # What polycache.MemoryCache is built from.
    def _hit(self, key: K, ttl: Ttl, /) -> V | Missing: ...
    def _hits(self, keys: Iterable[Any], ttl: Ttl, /) -> tuple[list[Any], dict[Any, Any]]: ...
    def _entry(self, key: K, /) -> tuple[V, float, int] | None: ...
    @property
    def _held(self) -> int: ...
    def _size_of(self, value: V, /) -> int: ...
    def _pop(self, key: K, /) -> V | Missing: ...
    def _keys(self) -> list[K]: ...
    def _items(self) -> list[tuple[K, V]]: ...
    def _expire(self, now: float | None = None, /) -> list[tuple[K, V]]: ...
    def _begin(self, key: K, task: Any, waited: float) -> Load: ...
    def _give_up(self) -> None: ...
    @property
    def _wait_timeout(self) -> float: ...
    def _loads(self) -> list[Load]: ...
    def _stats(self) -> dict[str, int]: ...

C = TypeVar("C", bound=type)

def quickened(cls: C) -> C: ...

class QuickCache(Cache): ...
class QuickMemoryCache(MemoryCache[K, V]): ...

class Named:
    """A value under the name of a type that this program has not registered.

    A read gives it if the option `types` has no such name. It is written as it was read, so nothing
    is lost. `name` is text of 1 to 255 bytes in UTF-8, and `value` is any value of the type map;
    `set` checks both (`UnsupportedValue`).
    """

    __match_args__ = ("name", "value")
    def __new__(cls, name: str, value: Any) -> Self: ...
    @property
    def name(self) -> str:
        """The type's name."""
    @property
    def value(self) -> Any:
        """What its `encode` made of the object, usually a dict of the fields."""

class Arguments:
    def __new__(
        cls,
        cache: MemoryCache[Any, Any],
        mark: object,
        names: tuple[str | None, ...],
        defaults: tuple[Any, ...],
        typed: bool,
    ) -> Self: ...

class QuickArguments(Arguments):
    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> Any: ...
    def key(self, args: tuple[Any, ...], kwargs: dict[str, Any], /) -> tuple[Any, ...] | None: ...

def encode_entry(
    value: Any,
    *,
    serializer: str = "messagepack",
    compressor: str = "none",
    created: int = 0,
    expires: int = 0,
    fresh_until: int | None = None,
    tags: list[tuple[str, int]] = ...,
    encryption: Sequence[EncryptionKey] | None = None,
    full_key: bytes | None = None,
    max_value: int | None = None,
) -> bytes: ...
def decode_entry(
    entry: bytes,
    *,
    encryption: Sequence[EncryptionKey] | None = None,
    full_key: bytes | None = None,
    dictionaries: Sequence[bytes] | None = None,
    max_value: int | None = None,
) -> dict[str, Any]: ...
def cli(arguments: Sequence[str]) -> int: ...
def full_key(namespace: list[str], key: str | bytes) -> bytes: ...
def key_hash(key: bytes, seed: int) -> int: ...

class ReadOrigin:
    """Where a reply was found."""

class ReadTicket:
    """A read that was begun, until it ends."""

    @property
    def why(self) -> int:
        """Why the reply will not be kept: 0, it will be; else as `WHYS` of reads/stats.py says."""
    @property
    def asks(self) -> bytes | None:
        """The key that the same connection is asked for by GETEX after the read."""

def reply_json(value: object) -> bytes:
    """A reply of a client as JSON; TypeError for what no reply holds."""

class Reads:
    """The cached reads of a cache with a server."""

    def __new__(cls, cache: Cache, prefixes: Sequence[bytes]) -> Self: ...
    @staticmethod
    def seconds(max_staleness: Duration) -> float:
        """The option `max_staleness` in seconds."""
    def know(self) -> bool:
        """Asks the server who it is, unless that is known; whether it answers."""
    def is_known(self) -> bool:
        """Whether that is known."""
    def near(self, name: bytes, keys: Sequence[bytes]) -> tuple[bytes, ReadOrigin] | None:
        """The reply that this host has and may be served, and where it was found."""
    def stands(self, origin: ReadOrigin) -> bool:
        """Whether a reply that was found there may be served again."""
    def begin(self, name: bytes, keys: Sequence[bytes], waited: float) -> ReadTicket | float | None:
        """Begins a read whose caller has waited so many seconds for others: a ticket that ends it,
        or the seconds after which to begin again; None: look again."""
    def fill(
        self,
        name: bytes,
        keys: Sequence[bytes],
        ticket: ReadTicket,
        answer: bytes | None,
        reply: bytes | None,
        expires: int,
    ) -> bool:
        """Ends a read with its reply and when that expires, in milliseconds since 1970 (0: never);
        None: it is not to be kept. Whether it is kept."""
    def fail(self, name: bytes, keys: Sequence[bytes], ticket: ReadTicket) -> None:
        """Ends a read without a reply."""
    def forget(self, key: bytes) -> None:
        """Removes what is kept of reads of this key, from this host."""
