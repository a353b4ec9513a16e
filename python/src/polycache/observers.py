"""What hears of the loads of a cache. Nothing does until `polycache.opentelemetry` is used."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from inspect import isawaitable
from time import monotonic
from typing import Any, Literal, Protocol

from .errors import InvalidArgument

Outcome = Literal["loaded", "failed", "abandoned"]


class Listener(Protocol):
    """Is told how long things took, in seconds."""

    def loaded(self, outcome: Outcome, seconds: float) -> None: ...
    def waited(self, seconds: float) -> None: ...


class Observers:
    """What the caches of one handle have in common: they hold it, and it holds none of them."""

    __slots__ = ("__weakref__", "counts", "listeners")

    def __init__(self) -> None:
        # Replaced, never changed: other threads may go through it.
        self.listeners: tuple[Listener, ...] = ()
        # Reads the statistics of the handle; made when somebody wants them.
        self.counts: Callable[[], dict[str, int]] | None = None


class Watch:
    """What the listeners are told of one caller: how long it waited for the loads of others, and
    how long its loader ran."""

    __slots__ = ("_listeners", "_since")

    def __init__(self, listeners: tuple[Listener, ...]) -> None:
        self._listeners = listeners
        self._since: float | None = None

    def waits(self) -> None:
        """The caller waits from now on, if it did not before."""
        if self._since is None:
            self._since = monotonic()

    def waited(self) -> None:
        """The caller waits no more, if it did."""
        if self._since is not None:
            self.waited_for(monotonic() - self._since)
            self._since = None

    def waited_for(self, seconds: float) -> None:
        for listener in self._listeners:
            listener.waited(seconds)

    @contextmanager
    def _loading(self) -> Iterator[None]:
        self.waited()
        outcome: Outcome = "abandoned"
        began = monotonic()
        try:
            yield
            outcome = "loaded"
        except Exception:
            outcome = "failed"
            raise
        finally:
            seconds = monotonic() - began
            for listener in self._listeners:
                listener.loaded(outcome, seconds)

    def around(self, loader: Callable[..., Any]) -> Callable[..., Any]:
        """The loader, listened to."""

        def load(*keys: Any) -> Any:
            with self._loading():
                return loader(*keys)

        return load

    def around_async(self, loader: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """See `around`."""

        async def load(*keys: Any) -> Any:
            with self._loading():
                return await awaitable(loader(*keys))

        return load


def awaitable(loading: Any) -> Awaitable[Any]:
    """What a loader of asynchronous code returned. Raises `InvalidArgument` for a mere value."""
    if isawaitable(loading):
        return loading
    raise InvalidArgument(
        f"the loader returned {type(loading).__qualname__}, which cannot be awaited: write it as "
        "`async def`, or call the synchronous get_or_set (of a Cache, or of the MemoryCache)"
    )
