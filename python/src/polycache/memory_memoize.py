"""Memoizing functions and methods in a process' memory."""

import inspect
from collections.abc import Callable
from functools import update_wrapper, wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from . import _native
from .async_loading import load_async
from .durations import Duration
from .errors import InvalidArgument
from .lifetime import TtlOf, before_load
from .loading import load
from .memoize import MemoizedFunction, cannot_forget, signature_of
from .memory_cache_options import MemoryCacheOptions
from .missing import MISSING, Missing

if TYPE_CHECKING:
    from .memory_cache import MemoryCache

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S")
T = TypeVar("T")


class CacheInfo(NamedTuple):
    """The result of `cache_info`, in the words of `functools.lru_cache`."""

    hits: int
    misses: int
    maxsize: int | None
    currsize: int


class MemoryMemoized(MemoizedFunction[P, R], Protocol[P, R]):
    """A function whose results are kept in memory; it is called as before."""

    @property
    def cache(self) -> "MemoryCache[Any, Any]":
        """The cache of the results."""

    def cache_info(self) -> CacheInfo:
        """Hits and misses of the cache since `cache_clear`, and how much it holds."""

    def cache_clear(self) -> None:
        """Deletes the results, as `forget_all`, and counts hits and misses anew."""

    def cache_parameters(self) -> dict[str, Any]:
        """`maxsize`, which is `max_entries`, and `typed`."""


class CachedOptions(MemoryCacheOptions, total=False):
    """The options of `cached` and `cached_method` beside `max_entries`."""

    key: Callable[..., Any] | None
    """Makes the key of a call, from its arguments. Default: all of them, with their types."""

    typed: bool
    """Whether equal arguments of different types (1, 1.0, True) make different keys. Default:
    True."""


@overload
def cached(function: Callable[P, T], /) -> MemoryMemoized[P, T]: ...
@overload
def cached(
    cache: "MemoryCache[Any, Any]",
    /,
    *,
    ttl: Duration | Missing | TtlOf | None = ...,
    key: Callable[..., Any] | None = ...,
    typed: bool = ...,
) -> Callable[[Callable[P, T]], MemoryMemoized[P, T]]: ...
@overload
def cached(
    max_entries: int | None = ..., **options: Unpack[CachedOptions]
) -> Callable[[Callable[P, T]], MemoryMemoized[P, T]]: ...
def cached(max_entries: Any = MISSING, **options: Any) -> Any:
    """A decorator that keeps what a function returns in memory, under its arguments.

        @cached(1000, ttl="5m")
        def load_user(number: int) -> User: ...

        load_user(1)
        load_user.forget(1)
        load_user.forget_all()

    It creates a `MemoryCache` with these options for the function (`@cached` alone: with the
    default options), or uses the given one, which functions may share. For synchronous and
    asynchronous functions, by the rules of `get_or_set`: of all callers one runs. Each caller gets
    a copy of a result that can change; with `isolation="none"` it is the object itself. A value
    that is too large is returned and not kept, and a nested call with equal arguments runs the
    function. Arguments are hashable, and told apart by value and type, however they are passed;
    those of `**kwargs` also by their order, because the function can see it. The signature stays.
    `@staticmethod` and `@classmethod` may be applied on top. Use `cached_method` for methods: here
    `self` would be an argument, which the cache keeps alive.

    Raises `InvalidArgument` for an option that is unknown or out of range.
    """
    from .memory_cache import MemoryCache

    if isinstance(max_entries, MemoryCache):
        return max_entries.memoize(**options)
    if callable(max_entries) or isinstance(max_entries, classmethod):
        return _cache((), options).memoize(max_entries)
    size = () if max_entries is MISSING else (max_entries,)
    how = {name: options.pop(name) for name in ("key", "typed") if name in options}
    return lambda function: memoized(_cache(size, options), function, MISSING, **how)


def _cache(size: tuple[Any, ...], options: Any) -> "MemoryCache[Any, Any]":
    from .memory_cache import MemoryCache

    return MemoryCache(*size, **options)


@overload
def cached_method(function: Callable[Concatenate[S, P], T], /) -> "_CachedMethod[S, P, T]": ...
@overload
def cached_method(
    max_entries: int | None = ..., **options: Unpack[CachedOptions]
) -> "Callable[[Callable[Concatenate[S, P], T]], _CachedMethod[S, P, T]]": ...
def cached_method(max_entries: Any = MISSING, **options: Any) -> Any:
    """A decorator for methods: each instance gets a `MemoryCache` of its own, with these options.

    `self` is not part of the key, need not be hashable, and goes when no other reference is left;
    its results go with it. An instance needs a `__dict__`, where its memoized method is kept under
    the method's name. `instance.method.forget(...)`, `.forget_all()` and `.cache` are that
    instance's.
    """
    if callable(max_entries):
        return _CachedMethod(max_entries, (), {})
    size = () if max_entries is MISSING else (max_entries,)
    return lambda function: _CachedMethod(function, size, options)


class _CachedMethod(Generic[S, P, T]):
    """The descriptor in the class; the memoized method in the instance hides it."""

    def __init__(
        self,
        function: Callable[Concatenate[S, P], T],
        size: tuple[Any, ...],
        options: dict[str, Any],
    ) -> None:
        _check(function)
        self._function = function
        self._size = size
        self._options = options.copy()
        names = ("key", "typed")
        self._how = {name: self._options.pop(name) for name in names if name in options}
        self._name = getattr(function, "__name__", "")
        update_wrapper(self, function)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "_CachedMethod[S, P, T]": ...
    @overload
    def __get__(self, instance: S, owner: type) -> MemoryMemoized[P, T]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        kept = getattr(instance, "__dict__", None)
        if kept is None:
            raise InvalidArgument(
                f"instances of {owner.__qualname__} have no __dict__, where "
                f"{self._name} could keep its results"
            )
        cache = _cache(self._size, self._options)
        bound = self._function.__get__(instance, owner)
        # If several threads come here at once, one makes it.
        return kept.setdefault(self._name, memoized(cache, bound, MISSING, **self._how))

    def __call__(self, instance: S, *args: P.args, **kwargs: P.kwargs) -> T:
        """As a function of the class: `Class.method(instance, ...)`."""
        return self.__get__(instance, type(instance))(*args, **kwargs)


def memoized(
    cache: "MemoryCache[Any, Any]",
    function: Callable[P, T],
    ttl: Duration | Missing | TtlOf | None,
    *,
    key: Callable[..., Any] | None = None,
    typed: bool = True,
    shares: bool = False,
) -> MemoryMemoized[P, T]:
    """The function, with its results in `cache`, which holds nothing else unless it `shares`."""
    _check(function)
    # Tells its keys from those of other functions that share the cache.
    mark = object()
    find: Callable[[Any, Any], Any]
    key_for: Callable[[Any, Any], Any]
    if key is None:
        find, key_for = _keys(cache, function, mark, typed)
    else:
        find, key_for = _nothing, lambda args, kwargs: key(*args, **kwargs)
    hit = cache._hit
    known = before_load(ttl)

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            value = find(args, kwargs)
            if value is not MISSING:
                return value
            key = key_for(args, kwargs)
            value = hit(key, known)
            if value is not MISSING:
                return value
            return await load_async(
                cache, key, lambda: function(*args, **kwargs), ttl, lenient=True
            )

        wrapper: Any = asynchronous
    else:

        @wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:
            value = find(args, kwargs)
            if value is not MISSING:
                return value
            key = key_for(args, kwargs)
            value = hit(key, known)
            if value is not MISSING:
                return value
            return load(cache, key, lambda: function(*args, **kwargs), ttl, lenient=True)

        wrapper = synchronous

    keyed = key is not None
    hits = misses = 0

    def cache_info() -> CacheInfo:
        stats = cache._stats()
        return CacheInfo(
            stats["hits"] - hits, stats["misses"] - misses, cache.max_entries, cache._held
        )

    def cache_clear() -> None:
        nonlocal hits, misses
        forget_all()
        stats = cache._stats()
        hits, misses = stats["hits"], stats["misses"]

    def forget_all() -> None:
        """Deletes all results of this function. Raises `InvalidArgument` with `key` in a given
        cache: its results cannot be told from other entries there."""
        if keyed:
            if shares:
                cannot_forget()
            cache.clear()
            return
        for key in cache:
            if isinstance(key, tuple) and key and key[0] is mark:
                cache.delete(key)

    wrapper.forget = lambda *args, **kwargs: cache.delete(key_for(args, kwargs))
    wrapper.forget_all = forget_all
    wrapper.cache = cache
    wrapper.cache_info = cache_info
    wrapper.cache_clear = cache_clear
    wrapper.cache_parameters = lambda: {"maxsize": cache.max_entries, "typed": typed}
    return cast(MemoryMemoized[P, T], wrapper)


def _keys(
    cache: "MemoryCache[Any, Any]", function: Callable[..., Any], mark: object, typed: bool
) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], tuple[Any, ...]]]:
    """A function that looks up a result fast by a call's arguments, and one that makes its key.

    A key is all of them in order, defaults included, and their types if it is `typed`.
    """
    signature = signature_of(function)
    parameters = signature.parameters.values()
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

    if all(parameter.kind in by_place for parameter in parameters):
        arguments = _native.QuickArguments(
            cache,
            mark,
            tuple(p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None for p in parameters),
            tuple(p.default for p in parameters if p.default is not p.empty),
            typed,
        )

        def in_order(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
            key = arguments.key(args, kwargs)
            if key is None:
                # They do not fit: this raises the error.
                signature.bind(*args, **kwargs)
                raise TypeError(f"{function!r} cannot be called with these arguments")
            return key

        return arguments.find, in_order

    def by_name(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        # Parameters in the order of the signature, then those of `**kwargs` as they were given: a
        # function may depend on their order.
        named = tuple(bound.kwargs.items())
        if not typed:
            return mark, bound.args, named
        types = *map(type, bound.args), *(type(value) for _, value in named)
        return mark, bound.args, named, types

    return _nothing, by_name


def _nothing(_args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Missing:
    return MISSING


def _check(function: object) -> None:
    if isinstance(function, classmethod | staticmethod):
        name = type(function).__name__
        raise InvalidArgument(f"put @{name} above the decorator, not below: it takes the function")
    if not callable(function):
        raise InvalidArgument(f"{function!r} cannot be called")
