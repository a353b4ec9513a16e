"""Functions that make keys of arguments, under the names of `cachetools.keys`."""

from typing import Any


class _Key(tuple[Any, ...]):
    """A tuple that is hashed once: a cache asks for the hash several times."""

    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = super().__hash__()
            return self._hash

    def __add__(self, more: tuple[Any, ...]) -> "_Key":
        return _Key((*self, *more))

    def __radd__(self, before: tuple[Any, ...]) -> "_Key":
        return _Key((*before, *self))

    def __reduce__(self) -> tuple[Any, ...]:
        # The hash of text differs in another process.
        return _Key, (tuple(self),)


class _Named:
    """Separates positional arguments from named ones; the same in every process."""

    def __reduce__(self) -> str:
        return "NAMED"

    def __repr__(self) -> str:
        return "NAMED"


NAMED = _Named()


def hashkey(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The arguments; named ones in the order of their names."""
    if not kwargs:
        return _Key(args)
    return _Key((*args, NAMED, *sorted(kwargs.items())))


def methodkey(self: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The arguments without the first."""
    return hashkey(*args, **kwargs)


def typedkey(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The arguments and their types."""
    named = (type(kwargs[name]) for name in sorted(kwargs))
    return _Key((*hashkey(*args, **kwargs), *named, *map(type, args)))


def typedmethodkey(self: Any, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """The arguments without the first, and their types."""
    return typedkey(*args, **kwargs)
