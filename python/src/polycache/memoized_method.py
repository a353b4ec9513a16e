"""Memoized functions in classes: methods, class methods and static methods.

They are bound to an instance or a class as other methods are, and what is bound still has `forget`,
`forget_all` and `cache_info`. Both are a `functools.partial`: it calls the function without code of
ours, and `inspect` and `asyncio` look through it.
"""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from .errors import InvalidArgument


def function_of(given: Any) -> Callable[..., Any]:
    """The function in what a decorator was given: that of a `classmethod` or `staticmethod`, too.

    Raises `InvalidArgument` for what cannot be called.
    """
    function = given.__func__ if isinstance(given, classmethod | staticmethod) else given
    if not callable(function):
        raise InvalidArgument(f"memoize takes a function, not {type(given).__qualname__}")
    return function


def as_given(memoized: Any, given: Any) -> Any:
    """The memoized function as its class needs it; outside of classes itself."""
    if isinstance(given, staticmethod):
        return MemoizedMethod(memoized, _to_nothing)
    if isinstance(given, classmethod):
        return MemoizedMethod(memoized, _to_class)
    if is_in_class(given):
        return MemoizedMethod(memoized, _to_instance)
    return memoized


def is_in_class(function: Any) -> bool:
    """Whether it was defined in the body of a class."""
    *outer, _ = getattr(function, "__qualname__", "").split(".")
    return bool(outer) and outer[-1] != "<locals>"


UNBOUND = object()


def _to_instance(instance: Any, owner: Any) -> Any:
    return UNBOUND if instance is None else instance


def _to_class(instance: Any, owner: Any) -> Any:
    return type(instance) if owner is None else owner


def _to_nothing(instance: Any, owner: Any) -> Any:
    return UNBOUND


class MemoizedMethod(partial[Any]):
    """The memoized function in its class. Called itself, it takes the instance as an argument."""

    _receiver: Callable[[Any, Any], Any]

    def __new__(cls, memoized: Callable[..., Any], receiver: Callable[[Any, Any], Any]) -> Any:
        method = super().__new__(cls, memoized)
        method._receiver = receiver
        # `forget` and its like come along.
        return update_wrapper(method, memoized)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        receiver = self._receiver(instance, owner)
        return self if receiver is UNBOUND else BoundMemoized(self.func, receiver)

    def __reduce__(self) -> Any:
        """By its name, as a function."""
        return self.func.__qualname__


class BoundMemoized(partial[Any]):
    """A memoized method of one instance or class: that is the first argument of each call."""

    def forget(self, *args: Any, **kwargs: Any) -> Any:
        """See `Memoized.forget`."""
        return self.func.forget(*self.args, *args, **kwargs)  # type: ignore[attr-defined]

    @property
    def __self__(self) -> Any:
        return self.args[0]

    def __getattr__(self, name: str) -> Any:
        """As of a bound method: what is not its own is the function's."""
        if name in ("__wrapped__", "__code__"):  # By these its signature would be the function's.
            raise AttributeError(name)
        return getattr(self.func, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundMemoized):
            return NotImplemented
        return self.func is other.func and self.__self__ is other.__self__

    def __hash__(self) -> int:
        return hash((self.func, id(self.__self__)))

    def __reduce__(self) -> Any:
        """By its instance and name, as a bound method."""
        return getattr, (self.__self__, self.func.__name__)
