"""What the modules for users of cachetools and functools share."""

from collections.abc import Callable
from typing import Any, TypeVar

from . import _native
from .memory_cache import MemoryCache
from .memory_cache_options import MemoryCacheOptions
from .observers import Observers

C = TypeVar("C", bound=MemoryCache[Any, Any])


def cache_of(
    kind: type[C],
    maxsize: int | None,
    getsizeof: Callable[[Any], int] | None = None,
    **options: Any,
) -> C:
    """A cache with the words and defaults of Python's other caches: it hands out the objects
    themselves, and `maxsize` bounds entries, or the sum of what `getsizeof` returns for their
    values.
    """
    wanted: MemoryCacheOptions = {"isolation": "none", **options}  # type: ignore[typeddict-item]
    cache = _native.MemoryCache.__new__(
        kind, None, _maxsize=maxsize, _getsizeof=getsizeof, **wanted
    )
    cache._observers = Observers()
    return cache
