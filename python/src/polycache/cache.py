"""The cache for synchronous code."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from io import BufferedReader, TextIOWrapper
from os import PathLike
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar, Unpack, cast, overload

from . import _native
from .durations import Duration
from .entry import Entry
from .errors import Closed, InvalidArgument
from .files.opening import open_value
from .files.writing import TextWriter, ValueWriter
from .lease import Lease
from .lifetime import LoadTtl, TtlOf, lifetime, load_lifetime
from .loading import load
from .loading_many import load_many
from .memoize import Memoized, memoized, name_of
from .memoized_method import as_given, function_of
from .missing import MISSING, Missing
from .observers import Observers
from .options import Options
from .statistics import MachineStats, RemoteStats, Report, Stats, Usage
from .stores.kinds import Kind, kind_of
from .updating import update

K = TypeVar("K", bound=str | bytes)
P = ParamSpec("P")
T = TypeVar("T")
_log = logging.getLogger("polycache")


@_native.quickened
class Cache(_native.QuickCache):
    """A cache directory, shared with every process of the machine that opens it.

    `path` is the directory, created if it is missing; a relative one is resolved once. The options
    are those of `polycache.options.Options`. Keys are str or bytes; a str stands for its UTF-8
    bytes. Values are those of the type map: None, bool, int, float, str, bytes, list, dict with str
    keys, set, aware datetime, Decimal and UUID; tuples come back as lists. Register your own
    classes by name, with the option `types`; everything else, also an instance of a subclass,
    raises `UnsupportedValue`.

    With `remote` other machines share it, too, through a Redis or Valkey: what is read is copied to
    the directory, or without a path to this process' memory, and served from there for as long as
    the server tells of every write. Without an answer reads are misses, and writes raise
    `RemoteUnavailable`.

    Without a path and without `remote` the cache is the memory tier alone: the same operations and
    results, inside this process. It stores and hands out copies; with
    `memory={"isolation": "none"}` it hands out the object itself, of any class. Options about bytes
    and directories raise `InvalidArgument`, the cache cannot be pickled, and a child that is forked
    has a cache of its own from then on.

    Every method may be called from any thread, and from a forked child. Unpickling a cache opens
    its directory again, so it can be handed to processes that multiprocessing spawns; not with
    `encryption`, because the pickle would hold its keys. Every method raises `Closed` after
    `close`, and `InvalidKey` for an invalid key. `cache[key]` is `get` with a KeyError for a miss,
    `cache[key] = value` is `set`, and `del cache[key]` is `delete` with a KeyError where there is
    no entry.

    Raises `InvalidArgument` for an unknown option or one out of range, `UnsupportedFilesystem`,
    `UnsupportedVersion`, `UnsupportedPlatform`, `ForeignDirectory`, `TooManyParticipants`,
    `NoSpace` or `IoError`.
    """

    _options: Options
    _is_remote: bool
    """Whether it has a server."""
    _waits: bool
    """Whether its operations may wait, for a server or for the library of another store."""
    _is_nested = False
    """Whether another cache opened the handle, so that the end of a block does not close it."""
    # Of all caches over one handle.
    _observers: Observers
    _name: str

    def __new__(
        cls, path: str | PathLike[str] | Missing = MISSING, **options: Unpack[Options]
    ) -> Self:
        given: dict[str, object] = dict(options)
        kind = None
        if "store" in given or "durability" in given:
            kind = kind_of(given.pop("store", None), given.pop("durability", None))
            if kind is not None:
                given["store"] = _checked(kind, path, options)
        cache = super().__new__(cls, path, given)
        cache._observers = Observers()
        if options.get("encryption") is not None:
            options["encryption"] = ()  # That there are keys is enough to know here.
        if options.get("types") is not None:
            options["types"] = dict(options["types"] or {})  # As they are now.
        cache._options = options
        cache._is_remote = options.get("remote") is not None
        cache._waits = cache._is_remote or kind is not None
        name = options.get("name")
        cache._name = "::".join(cache._namespace()) or "default" if name is None else name
        _log.debug("opened the cache at %s", cache.path or "no path: in memory")
        return cache

    def get_or_set(
        self,
        key: str | bytes,
        loader: Callable[[], T],
        *,
        ttl: Duration | Missing | Callable[[T], Duration | Missing | None] | None = MISSING,
        expires_at: datetime | None = None,
    ) -> T:
        """The key's value; when there is none, `loader` is called and what it returns is stored.

        Of all callers on this machine, in every language, one loads and the others wait. Those in
        this process each get their own copy of its value, or its error; when it is interrupted or
        its process dies, one of the others loads. A caller that has waited `lease_timeout` for a
        load begins another beside it. A set, delete or clear of the key during the load wins: the
        loaded value is returned, not stored. No lock is held while the loader runs. It may use the
        cache, except for its own key (`InvalidArgument`).

        A loaded value that cannot be stored is returned, counted in `stats().unstored`, and the
        first of each kind is reported to the logger `polycache`; with `store_errors="raise"` the
        error of `set` is raised.

        `ttl` counts from the end of the load. It may be a function of the loaded value:
        `ttl=lambda user: "1h" if user else "10s"`. `expires_at` is a time instead, a datetime with
        a time zone. A loaded value of a registered type is what `decode` makes of it, for its first
        caller as for every later one.

        Raises what the loader or the function of `ttl` raises, what `get` raises, and `WaitTimeout`
        after `wait_timeout`.
        """
        lives = ttl if expires_at is None else load_lifetime(ttl, expires_at)
        # As `before_load` says, without a call for each hit.
        value = self._hit(key, MISSING if callable(lives) else lives)
        if value is MISSING:
            loaded: T = load(self, key, loader, lives)
            return loaded
        return cast(T, value)

    def get_or_set_many(
        self,
        keys: Iterable[K],
        loader: Callable[[list[K]], Mapping[K, Any]],
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        expires_at: datetime | None = None,
    ) -> dict[K, Any]:
        """The values of the keys, in a dict; `loader` is called once for those that have none.

        It is given the list of the keys that this caller is to load, no key twice, and returns a
        mapping of keys to values. A key that it leaves out has no entry, and is missing in the
        result. The rules of `get_or_set` hold for each key. The caller loads its own keys before it
        waits for keys that others load; if one of these falls to it after all, `loader` is called
        again.

        Raises what `get_or_set` raises, and `InvalidArgument` for a key that `loader` was not asked
        for; then nothing is stored. With `store_errors="raise"` the values that can be stored are,
        and the first error is raised.
        """
        lives = load_lifetime(ttl, expires_at)
        return load_many(self, keys, loader, lives, name_of_key, self._copy_of)

    def add(
        self,
        key: str | bytes,
        value: Any,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> bool:
        """Stores the value if the key has no entry. True if it was stored: of several callers at
        once, in all processes and languages, that is one. A load of the key under way is not stored
        then.

        Raises what `set` raises; nothing has changed after any error.
        """
        return _native.add(self, key, value, lifetime(ttl, expires_at))

    def replace(
        self,
        key: str | bytes,
        value: Any,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> bool:
        """Stores the value if the key has an entry. True if it was stored.

        Raises what `set` raises; nothing has changed after any error.
        """
        return _native.replace(self, key, value, lifetime(ttl, expires_at))

    def compare_and_set(
        self,
        key: str | bytes,
        version: int,
        value: Any,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> bool:
        """Stores the value if the key's entry still has this `version`, which `entry(key)` tells.
        True if it was stored; False if the key was written, touched or deleted since, or its entry
        was moved: read it again.

        Raises `InvalidArgument` for what is no version, and what `set` raises; nothing has changed
        after any error.
        """
        return _native.compare_and_set(self, key, version, value, lifetime(ttl, expires_at))

    def update(
        self,
        key: str | bytes,
        function: Callable[[Any], Any],
        default: Any = None,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> Any:
        """Calls `function` with the key's value, or with `default` when it has none, stores what it
        returns, and returns that.

        If the key was changed meanwhile, by any process, it reads again and calls `function` again:
        no update is lost, and `function` should only compute. It may return `DELETE`, which deletes
        the key, or `LEAVE`, which leaves it; then `default` is returned. No lock is held while it
        runs.

        Without `ttl` or `expires_at` an entry keeps its time to live, and a new one has the cache's
        own.

            cache.update("names", lambda names: [*names, "Ada"], [])

        Raises `Conflict` after 100 calls, each of which others overtook, what `function` raises,
        and what `get` and `set` raise; nothing has changed after any error.
        """
        return update(self, key, function, default, lifetime(ttl, expires_at))

    def increment(
        self,
        key: str | bytes,
        by: int = 1,
        initial: int = 0,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> int:
        """Adds to the key's integer and returns the sum. A key without an entry counts as
        `initial`. No addition is lost, however many processes add at once.

        The entry keeps its time to live; `ttl` or `expires_at` is for a key without one.

        Raises `WrongType` when the value is not an int, `IntegerOverflow` when it or the sum is
        below -2**63 or above 2**63 - 1, `InvalidArgument` when `by` or `initial` is no such int,
        and what `get` and `set` raise; nothing has changed after any error.
        """
        return _native.count(self, key, by, False, initial, lifetime(ttl, expires_at))

    def decrement(
        self,
        key: str | bytes,
        by: int = 1,
        initial: int = 0,
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> int:
        """Subtracts from the key's integer and returns what is left; see `increment`."""
        return _native.count(self, key, by, True, initial, lifetime(ttl, expires_at))

    @overload
    def memoize(self, function: Callable[P, T], /) -> Memoized[P, T]: ...
    @overload
    def memoize(
        self,
        /,
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        expires_at: datetime | None = None,
        name: str | None = None,
        key: Callable[..., str | bytes] | None = None,
    ) -> Callable[[Callable[P, T]], Memoized[P, T]]: ...
    def memoize(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        ttl: Duration | Missing | TtlOf | None = MISSING,
        expires_at: datetime | None = None,
        name: str | None = None,
        key: Callable[..., str | bytes] | None = None,
    ) -> Any:
        """A decorator that stores what a function returns, under its arguments.

        For synchronous and asynchronous functions, by the rules of `get_or_set`. Arguments are
        values of the type map or of registered types (`UnsupportedValue` for others, also for
        `self`). The results are kept in a nested namespace with the function's module and name;
        `name` is another one, which lambdas and functions that capture variables need. They outlive
        the program, and changes of the function's code.

        `key` makes the key of a call from its arguments, which may then be any objects. Without a
        `name` it is a key of this namespace, where `get` and `delete` find it, too. `ttl` may be a
        function of the result, as in `get_or_set`.

        In a class, `key` is given the instance or class as well. The decorator stands above
        `@classmethod` or `@staticmethod`, or below; below `@classmethod`, `forget` has to be given
        the class from Python 3.13 on.

            @cache.memoize(ttl="5m")
            def load_user(number: int) -> dict[str, object]: ...

            load_user(1)
            load_user.forget(1)
            load_user.forget_all()
            load_user.cache_info()  # hits=0, misses=1: of this process
        """
        lives = load_lifetime(ttl, expires_at)

        def decorate(function: Any) -> Any:
            return self._memoized(function, lives, name, key, awaits=False)

        return decorate if function is None else decorate(function)

    def _memoized(
        self,
        given: Any,
        lives: LoadTtl,
        name: str | None,
        key: Callable[..., str | bytes] | None,
        awaits: bool,
    ) -> Any:
        function = function_of(given)
        shares = key is not None and name is None
        cache = self if shares else self.namespace(name or name_of(function))
        return as_given(memoized(cache, function, lives, key, shares=shares, awaits=awaits), given)

    def entry(self, key: str | bytes) -> Entry | None:
        """The key's value with the facts of its entry, or None. Not a use of the entry, and not
        counted."""
        found = self._entry(key)
        return None if found is None else Entry(**found)

    def keys(self, prefix: str | bytes = "") -> Iterator[str | bytes]:
        """The keys of this namespace, without those nested in it, that begin with `prefix`.

        They are looked up as they are consumed, in no order; an entry that stays throughout is
        yielded exactly once. Keys in valid UTF-8 are str, others bytes.
        """
        cursor: int | None = 0
        while cursor is not None:
            page, cursor = self._keys_page(prefix, cursor)
            yield from page

    def namespace(self, part: str) -> Self:
        """The cache of a namespace nested in this one, over the same handle.

        `close` closes both; the end of a `with` block around this one closes neither. Raises
        `InvalidArgument` for an empty part.
        """
        nested = _native.Cache.__new__(type(self), self, {"namespace": part})
        nested._options = self._options.copy()
        nested._options["namespace"] = [*self._namespace(), part]
        nested._is_nested = True
        nested._is_remote = self._is_remote
        nested._waits = self._waits
        nested._options["name"] = self._name
        nested._name = self._name
        nested._observers = self._observers
        return nested

    @property
    def name(self) -> str:
        """What metrics call the cache: the option `name`, which nested namespaces share."""
        return self._name

    @overload
    def open(self, key: str | bytes, mode: Literal["rb"] = "rb") -> BufferedReader: ...
    @overload
    def open(
        self,
        key: str | bytes,
        mode: Literal["r", "rt"],
        *,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> TextIOWrapper: ...
    @overload
    def open(
        self,
        key: str | bytes,
        mode: Literal["wb"],
        *,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> ValueWriter: ...
    @overload
    def open(
        self,
        key: str | bytes,
        mode: Literal["w", "wt"],
        *,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> TextWriter: ...
    def open(
        self,
        key: str | bytes,
        mode: str = "rb",
        *,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        ttl: Duration | Missing | None = MISSING,
        expires_at: datetime | None = None,
    ) -> BufferedReader | TextIOWrapper | ValueWriter:
        """The key's bytes as a file, to read ("rb", or as text "r") or to write ("wb", "w").

        What is read is the value as it was when it was opened, whatever becomes of the key
        meanwhile. Text is read, too, as its UTF-8. What is written is stored as bytes when the
        file is closed, in one step, with a time to live that counts from then. A `with` block that
        raises stores nothing; nor do `discard()`, letting go of the file, or the end of the
        process. It cannot seek.

        With `store="files"` the bytes go from and to the store's file, in memory of constant size;
        a value is read once before it is served, for its checksum. Everywhere else, and with a
        compressor, `encryption` or a time to idle, the value is in memory as a whole.

        Raises KeyError for a miss, `WrongType` for a value that is neither bytes nor text, what
        `get` raises, and `InvalidArgument` for another mode. Closing raises what `set` raises;
        `ValueTooLarge` and `EntryTooLarge` may come from a write.
        """
        lives = lifetime(ttl, expires_at)
        has_ttl = ttl is not MISSING or expires_at is not None
        return open_value(self, key, mode, encoding, errors, newline, lives, has_ttl)

    def lease(self, key: str | bytes) -> Lease:
        """A lock by the key's name, for adapters."""
        return Lease(self._lock(key))

    def stats(self) -> Stats:
        """Counts and sizes; walks the index, which takes milliseconds."""
        return Stats(**self._stats())

    def machine_stats(self) -> MachineStats | None:
        """What all processes of the machine, in all languages, did with the directory since it was
        made, what it holds, and which processes have it open; None without a directory.

        Walks the index, which takes milliseconds. Hits of other processes may be a few behind.
        """
        stats = self._machine_stats()
        return None if stats is None else MachineStats._of(**stats)

    def remote_stats(self) -> RemoteStats | None:
        """What this handle did with its remote tier, and how that is; None without one."""
        stats = self._remote_stats()
        return None if stats is None else RemoteStats(**stats)

    def usage(self, most: int = 10) -> list[Usage] | None:
        """The `most` namespaces of the directory whose entries take the most space, the largest
        first; None without a directory.

        Reads every key: about 0.2 µs for each entry. Raises `InvalidArgument` when `most` is not an
        int from 0 to 2**32 - 1.
        """
        if type(most) is not int or not 0 <= most < 2**32:
            raise InvalidArgument(f"most is an int from 0 to 2**32 - 1, not {most!r}")
        usage = self._usage(most)
        return None if usage is None else [Usage(**one) for one in usage]

    def check(self) -> Report:
        """Verifies every entry of the directory against its checksums; reads all of it."""
        return Report(**self._check())

    def _namespace(self) -> list[str]:
        given = self._options.get("namespace") or []
        return [given] if isinstance(given, str) else list(given)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._is_nested:
            self.close()

    def __repr__(self) -> str:
        parts = "".join(f", namespace={parts!r}" for parts in [self._namespace()] if parts)
        closed = " (closed)" if self.closed else ""
        where = "in memory" if self.path is None else repr(str(self.path))
        if self._is_remote:
            where = "remote" if self.path is None else f"{where}, remote"
        return f"<polycache.{type(self).__name__} {where}{parts}{closed}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.closed:
            raise Closed("the cache was closed; a closed cache cannot be pickled")
        if self._is_remote and not isinstance(self._options.get("remote"), str):
            raise InvalidArgument(
                "a cache over a client cannot be pickled, because a connection cannot; give it a "
                "URL, or open it in the other process"
            )
        if self.path is None and not self._is_remote:
            raise InvalidArgument(
                "a cache without a path is one process' memory: it can be neither copied nor "
                "pickled; give it a path to share it"
            )
        if self._options.get("encryption") is not None:
            raise InvalidArgument(
                "a cache with encryption cannot be pickled: the pickle would hold its keys; "
                "open the cache in the other process"
            )
        path = MISSING if self.path is None else str(self.path)
        return _reopen, (type(self), path, self._options)


def _checked(kind: Kind, path: str | PathLike[str] | Missing, options: Options) -> Kind:
    """Refuses options that mean nothing for a store beside the host tier."""
    if path is MISSING:
        raise InvalidArgument(f"the store {kind.name} needs a path: the directory it lives in")
    if isinstance(options.get("memory"), Mapping):
        raise InvalidArgument(
            "there is no memory tier over a store beside host: it would not hear of other "
            "processes' writes"
        )
    return kind


def name_of_key(key: str | bytes) -> bytes:
    """What tells keys apart: text and its bytes are one key."""
    return key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key


def _reopen(cls: type[Cache], path: str | Missing, options: Options) -> Cache:
    return cls(path, **options)
