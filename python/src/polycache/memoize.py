"""Memoizing functions: their results are stored under their arguments."""

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from os.path import abspath
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    NoReturn,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    overload,
)

from .aside import aside
from .errors import InvalidArgument, UnsupportedValue
from .lifetime import LoadTtl, before_load
from .loading import load
from .missing import MISSING

if TYPE_CHECKING:
    from .cache import Cache

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", covariant=True)
S = TypeVar("S")
T = TypeVar("T")
F = TypeVar("F", contravariant=True)


class MemoizedInfo(NamedTuple):
    """The result of `cache_info`, in the words of `functools.lru_cache`: what this process' calls
    of a memoized function came to. How many results there are, of all processes, it does not
    count."""

    hits: int
    """Calls that got a result without running the function: a kept one, or another caller's."""
    misses: int
    """Calls that ran the function, also when it failed."""


class MemoizedFunction(Protocol[P, R]):
    """A memoized function, wherever its results are kept; it is called as before."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result for these arguments; the function is called if there is none."""

    def forget(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Deletes the result for these arguments; True when there was one."""

    def forget_all(self) -> None:
        """Deletes all results of this function. Raises `InvalidArgument` if its keys come from
        `key` and are kept among others."""


class _TakesFirst(Protocol[F, Q, R]):
    """A function, as type checkers bind it. mypy tells first arguments apart by this alone."""

    def __call__(self, first: F, /, *args: Q.args, **kwargs: Q.kwargs) -> R: ...


class Memoized(MemoizedFunction[P, R], Protocol[P, R]):
    """A memoized function; it is called as before. In a class it is a method as before: bound to an
    instance, `forget` takes the arguments without it."""

    def cache_info(self) -> MemoizedInfo:
        """Hits and misses of the calls of this function in this process, since it was memoized. A
        forked child goes on from its parent's."""

    # In this order: a class method takes the class, a method of a class is not bound, one of an
    # instance is, and what is left is a static method.
    @overload
    def __get__(
        self: "_TakesFirst[type[S], Q, T]", instance: S | None, owner: type[S], /
    ) -> "Memoized[Q, T]": ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(
        self: "_TakesFirst[S, Q, T]", instance: S, owner: type | None = None, /
    ) -> "Memoized[Q, T]": ...
    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> Self: ...


class AsyncMemoized(Protocol[P, R]):
    """What `AsyncCache.memoize` makes of a function: `Memoized`, with `forget` and `forget_all` to
    be awaited."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result for these arguments; the function is called if there is none."""

    async def forget(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Deletes the result for these arguments; True when there was one."""

    async def forget_all(self) -> None:
        """Deletes all results of this function. Raises `InvalidArgument` if its keys come from
        `key` and are kept among others."""

    def cache_info(self) -> MemoizedInfo:
        """See `Memoized.cache_info`."""

    # As `Memoized` has them.
    @overload
    def __get__(
        self: "_TakesFirst[type[S], Q, T]", instance: S | None, owner: type[S], /
    ) -> "AsyncMemoized[Q, T]": ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(
        self: "_TakesFirst[S, Q, T]", instance: S, owner: type | None = None, /
    ) -> "AsyncMemoized[Q, T]": ...
    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> Self: ...


def memoized(
    cache: "Cache",
    function: Callable[P, R],
    ttl: LoadTtl,
    key: Callable[..., str | bytes] | None = None,
    *,
    shares: bool = False,
    awaits: bool = False,
) -> Memoized[P, R]:
    """The function, with its results in `cache`, which holds nothing else unless it `shares`.
    With `awaits` what it returns is awaited, even if it is no coroutine function, and so are
    `forget` and `forget_all`."""
    key_for: Callable[[Any, Any], str | bytes]
    if key is None:
        key_for = _key_maker(cache._encode_arguments, function)
    else:
        key_for = lambda args, kwargs: key(*args, **kwargs)  # noqa: E731
    hit = cache._hit
    checked = before_load(ttl)
    # As exact as those of `functools.lru_cache`, at a fraction of what a lock costs: no other
    # thread runs between reading and writing one of them, as long as there is a GIL.
    hits = misses = 0
    if awaits or inspect.iscoroutinefunction(function):
        # Only here: a program without an event loop need not load asyncio.
        from .async_loading import load_async

        @wraps(function)
        async def asynchronous(*args: Any, **kwargs: Any) -> Any:
            nonlocal hits
            asked = key_for(args, kwargs)
            value = await aside(cache, hit, asked, checked) if cache._waits else hit(asked, checked)
            if value is not MISSING:
                hits += 1
                return value
            ran = False

            def run() -> Any:
                nonlocal misses, ran
                misses += 1
                ran = True
                return function(*args, **kwargs)

            value = await load_async(cache, asked, run, ttl)
            hits += not ran
            return value

        wrapper: Any = asynchronous
    else:

        @wraps(function)
        def synchronous(*args: Any, **kwargs: Any) -> Any:
            nonlocal hits
            asked = key_for(args, kwargs)
            value = hit(asked, checked)
            if value is not MISSING:
                hits += 1
                return value
            ran = False

            def run() -> Any:
                nonlocal misses, ran
                misses += 1
                ran = True
                return function(*args, **kwargs)

            value = load(cache, asked, run, ttl)
            hits += not ran
            return value

        wrapper = synchronous
    wrapper.forget = lambda *args, **kwargs: cache.delete(key_for(args, kwargs))
    wrapper.forget_all = cannot_forget if shares else cache.clear
    if awaits:
        wrapper.forget, wrapper.forget_all = _awaited(cache, wrapper)
    wrapper.cache_info = lambda: MemoizedInfo(hits, misses)
    return cast(Memoized[P, R], wrapper)


def _awaited(cache: "Cache", memoized: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Its `forget` and `forget_all` as coroutine functions, beside the event loop."""
    now, all_now = memoized.forget, memoized.forget_all

    async def forget(*args: Any, **kwargs: Any) -> bool:
        return cast(bool, await aside(cache, now, *args, **kwargs))

    async def forget_all() -> None:
        await aside(cache, all_now)

    return forget, forget_all


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
                f"{error} (the instance or class of a method is an argument, too: make the key by "
                "memoize(key=...), memoize a function of plain values that the method calls, or "
                "use cached_method, in memory)",
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
