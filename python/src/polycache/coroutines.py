"""Loaders of synchronous caches that turn out to be asynchronous."""

from types import CoroutineType
from typing import TypeVar

from .errors import InvalidArgument

T = TypeVar("T")


def refuse_coroutine(loaded: T) -> T:
    """What a loader returned. Raises `InvalidArgument` for a coroutine."""
    if isinstance(loaded, CoroutineType):
        loaded.close()
        raise InvalidArgument(
            "the loader returned a coroutine, not a value: use AsyncCache, in a MemoryCache "
            "`await get_or_set_async(...)`, or a loader that is no `async def`"
        )
    return loaded
