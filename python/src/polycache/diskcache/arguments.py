"""Keys of calls, for the functions that memoize."""

from collections.abc import Callable, Collection
from typing import Any


def full_name(function: Callable[..., Any]) -> str:
    """The module and the name of a function."""
    return f"{function.__module__}.{function.__qualname__}"


def args_to_key(
    base: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    typed: bool,
    ignore: Collection[int | str],
    names: bool = False,
) -> tuple[Any, ...]:
    """The key of a call, a tuple. `typed` adds the types of the arguments, or with `names` the
    names of the types, which need no pickle."""
    kept = tuple(value for place, value in enumerate(args) if place not in ignore)
    named = [(name, kwargs[name]) for name in sorted(kwargs) if name not in ignore]
    parts = [*base, *kept, None]
    for pair in named:
        parts.extend(pair)
    if typed:
        kinds = [type(value) for value in (*kept, *(value for _, value in named))]
        parts.extend(full_name(kind) if names else kind for kind in kinds)
    return tuple(parts)
