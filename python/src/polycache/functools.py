"""A replacement for `functools.lru_cache` and `functools.cache`.

    from polycache.functools import lru_cache

They are `polycache.cached` with the words and defaults of functools: results are not copied.
docs/from-functools.md says what differs.
"""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from .drop_in import cache_of
from .memory_cache import MemoryCache
from .memory_memoize import MemoryMemoized

P = ParamSpec("P")
T = TypeVar("T")

__all__ = ["cache", "lru_cache"]


@overload
def lru_cache(maxsize: Callable[P, T], typed: bool = ...) -> MemoryMemoized[P, T]: ...
@overload
def lru_cache(
    maxsize: int | None = ..., typed: bool = ...
) -> Callable[[Callable[P, T]], MemoryMemoized[P, T]]: ...
def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    """A decorator that keeps the last results of a function, under its arguments; with `maxsize`
    None all, with 0 or less none."""
    if callable(maxsize):
        return _keeping(128, typed, maxsize)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError("maxsize is a whole number, a function, or None")
    most = maxsize if maxsize is None else max(maxsize, 0)
    return lambda function: _keeping(most, typed, function)


def cache(function: Callable[P, T], /) -> MemoryMemoized[P, T]:
    """A decorator that keeps all results of a function: `lru_cache(maxsize=None)`."""
    return _keeping(None, False, function)


def _keeping(maxsize: int | None, typed: bool, function: Callable[P, T]) -> MemoryMemoized[P, T]:
    return cache_of(MemoryCache[Any, Any], maxsize).memoize(typed=typed)(function)
