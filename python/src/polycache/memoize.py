"""Memoizing functions: their results are stored under their arguments."""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from os.path import abspath
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, Protocol, TypeVar, cast

from .async_loading import load_async
from .errors import InvalidArgument, UnsupportedValue
from .lifetime import Ttl
from .loading import load
from .missing import MISSING

if TYPE_CHECKING:
    from .cache import Cache

P = ParamSpec("P")
R = TypeVar("R", covariant=True)


class Memoized(Protocol[P, R]):
    """A memoized function; it is called as before."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result for these arguments; the function is called if there is none."""

    def forget(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Deletes the result for these arguments; True when there was one."""

    def forget_all(self) -> None:
        """Deletes all results of this function. Raises `InvalidArgument` if its keys come from
        `key` and are kept among others."""


def memoized(
    cache: "Cache",
    function: Callable[P, R],
    ttl: Ttl,
    key: Callable[..., str | bytes] | None = None,
    shares: bool = False,
) -> Memoized[P, R]:
    """The function, with its results in `cache`, which holds nothing else unless it `shares`."""
    key_for: Callable[[Any, Any], str | bytes]
    if key is None:
        key_for = _key_maker(cache._encode_arguments, function)
    else:
        key_for = lambda args, kwargs: key(*args, **kwargs)  # noqa: E731
    if inspect.iscoroutinefunction(function):

        @wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            asked = key_for(args, kwargs)
            value = cache._hit(asked, ttl)
            if value is not MISSING:
                return value
            return await load_async(cache, asked, lambda: function(*args, **kwargs), ttl)

        wrapper: Any = asynchronous
    else:

        @wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:
            asked = key_for(args, kwargs)
            value = cache._hit(asked, ttl)
            if value is not MISSING:
                return value
            return load(cache, asked, lambda: function(*args, **kwargs), ttl)

        wrapper = synchronous
    wrapper.forget = lambda *args, **kwargs: cache.delete(key_for(args, kwargs))
    wrapper.forget_all = cannot_forget if shares else cache.clear
    return cast(Memoized[P, R], wrapper)


def cannot_forget() -> NoReturn:
    """`forget_all` for results that are kept among other entries."""
    raise InvalidArgument(
        "forget_all would clear all of the cache, because nothing tells these results from other "
        'entries: give the function a place of its own, a cache or memoize(name="users", key=...)'
    )


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Binds the arguments of calls to the function's own parameters. A decorator may pass others to
    the function that it wraps."""
    return inspect.signature(function, follow_wrapped=False)


def _key_maker(
    encode: Callable[[Any], bytes], function: Callable[..., Any]
) -> Callable[[Any, Any], bytes]:
    """Turns arguments into a key: all of them in order, defaults included, so that it does not
    matter how they are passed."""
    signature = signature_of(function)
    if next(iter(signature.parameters), "") in ("self", "cls"):
        encode = _for_methods(encode)
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    # Positional arguments are in order already.
    complete = len(kinds) if all(kind in by_place for kind in kinds) else None

    def key_for(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes:
        if not kwargs and len(args) == complete:
            return encode(args)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        # In the order of the signature. Those of `**kwargs` as they were given, because a function
        # may depend on their order.
        return encode(list(bound.arguments.values()))

    return key_for


def _for_methods(encode_arguments: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """The same, with a refusal that says what an instance among the arguments may mean."""

    def encode(values: Any) -> bytes:
        try:
            return encode_arguments(values)
        except UnsupportedValue as error:
            raise UnsupportedValue(
                f"{error} (the instance of a method is an argument, too: memoize a function of "
                "plain values that the method calls, or use cached_method, in memory)",
                error.path,
            ) from None

    return encode


def name_of(function: Callable[..., Any]) -> str:
    """A name that tells the function from all others, in each process that has it."""
    # A wrapper may hold state that the function inside does not, and a bound method has its
    # instance.
    layers = _layers(function)
    inner = layers[-1]
    name = getattr(inner, "__qualname__", "<lambda>")
    module = getattr(inner, "__module__", None) or "__main__"
    # In spawned children the program's module has another name.
    if module in ("__main__", "__mp_main__"):
        file = getattr(sys.modules.get(module), "__file__", None)
        module = abspath(file) if file else None
    # Lambdas share one name, and the name does not tell what a closure or an instance holds.
    if not module or "<lambda>" in name or any(_holds_values(layer, layers) for layer in layers):
        raise InvalidArgument(
            f"{function!r} has no name that tells it from other functions: give it one, "
            'like memoize(name="users")'
        )
    return f"{module}.{name}"


def _layers(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The function and the functions that it wraps (`__wrapped__`), the innermost last."""
    innermost = inspect.unwrap(function)
    layers = [function]
    while layers[-1] is not innermost:
        layers.append(layers[-1].__wrapped__)  # type: ignore[attr-defined]
    return layers


def _holds_values(layer: Callable[..., Any], layers: list[Callable[..., Any]]) -> bool:
    """Whether its name is not enough: a bound method has its instance or class, and a closure what
    it captured, other than the function that it wraps."""
    owner = getattr(layer, "__self__", None)
    if owner is not None and not inspect.ismodule(owner):
        return True
    captured = getattr(layer, "__closure__", None) or ()
    return any(all(_content(cell) is not known for known in layers) for cell in captured)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # Not filled yet.
        return None
