"""Memoizing functions and methods in a process' memory."""

import inspect
from collections.abc import Callable
from functools import update_wrapper, wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from . import _native
from .durations import Duration
from .errors import InvalidArgument
from .memoize import Memoized
from .memory_loading import load, load_async
from .missing import MISSING, Missing

if TYPE_CHECKING:
    from .memory_cache import MemoryCache, MemoryOptions

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S")
T = TypeVar("T")


class MemoryMemoized(Memoized[P, R], Protocol[P, R]):
    """A function whose results are kept in memory; it is called as before."""

    @property
    def cache(self) -> "MemoryCache[Any, Any]":
        """Where the results are."""


@overload
def cached(
    cache: "MemoryCache[Any, Any]", /, *, ttl: Duration | Missing | None = ...
) -> Callable[[Callable[P, T]], MemoryMemoized[P, T]]: ...
@overload
def cached(
    maxsize: int | None = None, /, **options: Unpack["MemoryOptions"]
) -> Callable[[Callable[P, T]], MemoryMemoized[P, T]]: ...
def cached(given: Any = None, /, **options: Any) -> Any:
    """A decorator that keeps what a function returns in memory, under its arguments.

        @cached(1000, ttl="5m")
        def load_user(number: int) -> User: ...

        load_user(1)
        load_user.forget(1)
        load_user.forget_all()

    It makes a `MemoryCache` with these options for the function, or uses the one that it is given,
    which functions may share. For synchronous and asynchronous functions, by the rules of
    `get_or_set`: of all callers one runs. Arguments are hashable, and told apart by value and type,
    however they are passed. The signature stays. Under `@staticmethod` and `@classmethod` it works
    as on a function; on a method `self` would be an argument, kept alive by the cache: use
    `cached_method`.

    Raises `InvalidArgument` for an option that is unknown or out of range.
    """
    from .memory_cache import MemoryCache

    def decorate(function: Callable[P, T]) -> MemoryMemoized[P, T]:
        if isinstance(given, MemoryCache):
            return given.memoize(**options)(function)
        cache: MemoryCache[Any, Any] = MemoryCache(given, **options)
        return cache.memoize()(function)

    return decorate


def cached_method(
    maxsize: int | None = None, /, **options: Unpack["MemoryOptions"]
) -> "Callable[[Callable[Concatenate[S, P], T]], _CachedMethod[S, P, T]]":
    """A decorator for methods: each instance gets a `MemoryCache` of its own, with these options.

    `self` is no part of the key, need not be hashable, and goes when nobody else has it; its
    results go with it. An instance needs a `__dict__`, where its memoized method is kept under the
    method's name. `instance.method.forget(...)`, `.forget_all()` and `.cache` are that instance's.
    """
    return lambda function: _CachedMethod(function, maxsize, options)


class _CachedMethod(Generic[S, P, T]):
    """What stands in the class; in the instance stands the memoized method, which hides it."""

    def __init__(
        self,
        function: Callable[Concatenate[S, P], T],
        maxsize: int | None,
        options: "MemoryOptions",
    ) -> None:
        _check(function)
        self._function = function
        self._maxsize = maxsize
        self._options = options
        self._name = getattr(function, "__name__", "")
        update_wrapper(self, function)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "_CachedMethod[S, P, T]": ...
    @overload
    def __get__(self, instance: S, owner: type) -> MemoryMemoized[P, T]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        from .memory_cache import MemoryCache

        if instance is None:
            return self
        kept = getattr(instance, "__dict__", None)
        if kept is None:
            raise InvalidArgument(
                f"instances of {owner.__qualname__} have no __dict__, where "
                f"{self._name} could keep its results"
            )
        cache: MemoryCache[Any, Any] = MemoryCache(self._maxsize, **self._options)
        bound = self._function.__get__(instance, owner)
        # Of threads that come here at once, one makes it.
        return kept.setdefault(self._name, memoized(cache, bound, MISSING))

    def __call__(self, instance: S, *args: P.args, **kwargs: P.kwargs) -> T:
        """As a function of the class: `Class.method(instance, ...)`."""
        return self.__get__(instance, type(instance))(*args, **kwargs)


def memoized(
    cache: "MemoryCache[Any, Any]", function: Callable[P, T], ttl: Duration | Missing | None
) -> MemoryMemoized[P, T]:
    """The function, with its results in `cache`."""
    _check(function)
    # Tells its keys from those of other functions that share the cache.
    mark = object()
    find, key_for = _keys(cache, function, mark)
    hit, loads = cache._hit, cache._loads

    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            value = find(args, kwargs)
            if value is not MISSING:
                return value
            key = key_for(args, kwargs)
            value = hit(key, ttl)
            if value is not MISSING:
                return value
            return await load_async(cache, loads, key, lambda: function(*args, **kwargs), ttl)

        wrapper: Any = asynchronous
    else:

        @wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:
            value = find(args, kwargs)
            if value is not MISSING:
                return value
            key = key_for(args, kwargs)
            value = hit(key, ttl)
            if value is not MISSING:
                return value
            return load(cache, loads, key, lambda: function(*args, **kwargs), ttl)

        wrapper = synchronous

    def forget_all() -> None:
        """Deletes all results of this function."""
        for key in cache:
            if isinstance(key, tuple) and key and key[0] is mark:
                cache.delete(key)

    wrapper.forget = lambda *args, **kwargs: cache.delete(key_for(args, kwargs))
    wrapper.forget_all = forget_all
    wrapper.cache = cache
    return cast(MemoryMemoized[P, T], wrapper)


def _keys(
    cache: "MemoryCache[Any, Any]", function: Callable[..., Any], mark: object
) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], tuple[Any, ...]]]:
    """What looks for a result quickly, given a call's arguments, and what turns them into its key.

    A key is all of them in order, defaults included, and their types.
    """
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

    if all(parameter.kind in by_place for parameter in parameters):
        arguments = _native.QuickArguments(
            cache,
            mark,
            tuple(p.name if p.kind is p.POSITIONAL_OR_KEYWORD else None for p in parameters),
            tuple(p.default for p in parameters if p.default is not p.empty),
        )

        def in_order(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
            key = arguments.key(args, kwargs)
            if key is None:
                # They don't fit: this says how.
                signature.bind(*args, **kwargs)
                raise TypeError(f"{function!r} cannot be called with these arguments")
            return key

        return arguments.find, in_order

    def by_name(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        named = tuple(sorted(bound.kwargs.items()))
        types = *map(type, bound.args), *(type(value) for _, value in named)
        return mark, bound.args, named, types

    return _nothing, by_name


def _nothing(_args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Missing:
    return MISSING


def _check(function: object) -> None:
    if isinstance(function, classmethod) or not callable(function):
        raise InvalidArgument(
            f"{function!r} cannot be called: put @classmethod above the decorator, not below"
        )
