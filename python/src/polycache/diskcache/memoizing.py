"""Decorators that store what functions return."""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

from .arguments import args_to_key, full_name
from .constants import ENOVAL


def memoized(
    cache: Any,
    name: str | None,
    typed: bool,
    expire: float | None,
    tag: Any,
    ignore: Collection[int | str],
) -> Callable[[Any], Any]:
    """The decorator of a cache's `memoize`."""

    def find(key: Any) -> Any:
        return cache.get(key, ENOVAL, retry=True)

    def store(key: Any, result: Any) -> None:
        if expire is None or expire > 0:
            cache.set(key, result, expire, tag=tag, retry=True)

    return decorator_of(cache, name, typed, ignore, find, store)


def decorator_of(
    cache: Any,
    name: str | None,
    typed: bool,
    ignore: Collection[int | str],
    find: Callable[[Any], Any],
    store: Callable[[Any, Any], None],
) -> Callable[[Any], Any]:
    """A decorator over two functions: one finds the result for a key, or ENOVAL, the other stores
    it."""
    if callable(name):
        raise TypeError("name cannot be callable")

    def decorate(function: Any) -> Any:
        cache_key = key_maker(cache, function, name, typed, ignore)
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def asynchronous(*args: Any, **kwargs: Any) -> Any:
                key = cache_key(*args, **kwargs)
                result = find(key)
                if result is ENOVAL:
                    result = await function(*args, **kwargs)
                    store(key, result)
                return result

            wrapper: Any = asynchronous
        else:

            @wraps(function)
            def synchronous(*args: Any, **kwargs: Any) -> Any:
                key = cache_key(*args, **kwargs)
                result = find(key)
                if result is ENOVAL:
                    result = function(*args, **kwargs)
                    store(key, result)
                return result

            wrapper = synchronous
        wrapper.__cache_key__ = cache_key
        return wrapper

    return decorate


def key_maker(
    cache: Any,
    function: Any,
    name: str | None,
    typed: bool,
    ignore: Collection[int | str],
) -> Callable[..., tuple[Any, ...]]:
    """A function of a call's arguments that makes its key."""
    base = (full_name(function) if name is None else name,)

    def cache_key(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        # Types themselves need pickle.
        return args_to_key(base, args, kwargs, typed, ignore, names=cache._pickling is None)

    return cache_key
