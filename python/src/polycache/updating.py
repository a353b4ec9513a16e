"""Updates: what a function makes of a value is stored, unless the key was changed meanwhile."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from types import CoroutineType
from typing import Any

from . import _native
from .aside import aside
from .errors import Conflict, InvalidArgument
from .lifetime import Ttl
from .missing import MISSING
from .update import DELETE, LEAVE


def update(
    cache: _native.Cache, key: str | bytes, function: Callable[[Any], Any], default: Any, ttl: Ttl
) -> Any:
    """See `Cache.update`."""
    _check(function)
    for _ in range(_native.UPDATE_ATTEMPTS):
        value, found = _native.find_to_update(cache, key, ttl)
        new = function(default if value is MISSING else value)
        if type(new) is CoroutineType:
            new.close()
            raise InvalidArgument(
                "the function of an update returned a coroutine, not a value: use AsyncCache, or a "
                "function that is not an `async def`"
            )
        if _is_done(cache, key, found, new, ttl):
            return default if new is DELETE or new is LEAVE else new
    raise _conflict()


async def update_async(
    cache: _native.Cache,
    key: str | bytes,
    function: Callable[[Any], Awaitable[Any]],
    default: Any,
    ttl: Ttl,
) -> Any:
    """See `AsyncCache.update`."""
    _check(function)
    for _ in range(_native.UPDATE_ATTEMPTS):
        value, found = await aside(cache, _native.find_to_update, cache, key, ttl)
        new = await _awaitable(function(default if value is MISSING else value))
        if await aside(cache, _is_done, cache, key, found, new, ttl):
            return default if new is DELETE or new is LEAVE else new
    raise _conflict()


def _is_done(
    cache: _native.Cache, key: str | bytes, found: _native.Found, new: Any, ttl: Ttl
) -> bool:
    """Does what the function said; False when the key was changed since it was found."""
    if new is LEAVE:
        return True
    if new is DELETE:
        return _native.delete_found(cache, key, found)
    return _native.set_found(cache, key, found, new, ttl)


def _check(function: object) -> None:
    if not callable(function):
        raise InvalidArgument(f"an update needs a function, not {type(function).__qualname__}")


def _awaitable(new: Any) -> Awaitable[Any]:
    if isawaitable(new):
        return new
    raise InvalidArgument(
        f"the function of an asynchronous update returned {type(new).__qualname__}, which cannot "
        "be awaited: write it as `async def`, or use Cache"
    )


def _conflict() -> Conflict:
    return Conflict(
        "others changed this key each time that the update was tried; try again later, or update "
        "it less often"
    )
