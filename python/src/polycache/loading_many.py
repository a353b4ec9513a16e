"""Loading several keys at once: of all callers of a key one loads it, among others of its own.

The rules are those of spec/semantics.md, "get_or_set_many". A caller loads and stores what it was
granted before it waits for others, so no load waits for a caller that waits.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol, Self
from weakref import ref

from . import _native
from .errors import InvalidArgument
from .lifetime import LoadTtl, Ttl, after_load, before_load
from .loading import Loads, check_loader, checked, inside, joining, patience, wait_for_any
from .missing import MISSING
from .observers import Watch


class ManyLoads(Loads, Protocol):
    """A cache, as loads of several keys see it."""

    def _hits(self, keys: Any, ttl: Ttl, /) -> tuple[list[Any], dict[Any, Any]]: ...


@dataclass(slots=True)
class Load:
    """The caller is to run the loader with these keys, and to store what it returns."""

    keys: list[Any]


@dataclass(slots=True)
class LoadAlone:
    """The caller is to run the loader with these keys, for itself: waiting would never end."""

    keys: list[Any]


@dataclass(slots=True)
class Wait:
    """Others load: the caller is to wait until one of these loads of this process is over, so many
    seconds at most."""

    parts: list[_native.Load]
    seconds: float


Caller = tuple[Any, Any]
"""The task and its event loop; None for a thread, each."""


class Many:
    """One caller's loads of several keys, a turn at a time. It does not run the loader, nor wait.

    It is given the keys and what was found of them. `name` tells which keys are the same, and
    `copy` makes another value like one that is handed out. It waits for all loads of others at
    once, so a key that falls free meanwhile is loaded without delay.
    """

    def __init__(
        self,
        cache: ManyLoads,
        hits: tuple[list[Any], dict[Any, Any]],
        ttl: LoadTtl,
        caller: Caller,
        name: Callable[[Any], Any],
        copy: Callable[[Any], Any],
    ) -> None:
        self._cache = cache
        self._copy = copy
        self._ttl = ttl
        self._caller, self._event_loop = caller
        # What natively stands for it.
        is_task = self._caller is not None
        self._task = (ref(self._caller), ref(self._event_loop)) if is_task else None
        self._name = name
        self._keys, self._found = hits
        self._values = {name(key): value for key, value in self._found.items()}
        # By name, as they were first given.
        self._left: dict[Any, Any] = {}
        for key in self._keys:
            if name(key) not in self._values:
                self._left.setdefault(name(key), key)
        # Loads of this caller, not granted yet: other processes may load these keys.
        self._begun: dict[Any, _native.Load] = {}
        # Loads that were granted.
        self._granted: dict[Any, _native.Load] = {}
        # Loads of others in this process, and those of them that are listed as awaited.
        self._joined: dict[Any, _native.Load] = {}
        self._awaited: dict[Any, ExitStack] = {}
        self._alone: list[Any] = []
        self._waited = 0.0
        listeners = cache._observers.listeners
        # None while nobody listens.
        self.watch = Watch(listeners) if listeners else None

    def turn(self) -> Load | LoadAlone | Wait | None:
        """What the caller is to do next; None when it is done."""
        self._hear()
        pause = self._ask()
        if self._granted:
            return Load([self._left[name] for name in self._granted])
        # Only now does it wait for others, so only now could others wait for it in turn.
        self._await()
        if self._alone:
            return LoadAlone([self._left[name] for name in self._alone])
        if not self._left:
            return None
        left = self._cache._wait_timeout - self._waited
        if self._joined and left <= 0:
            self._cache._give_up()
        parts = list(self._joined.values())
        pauses = [patience(part, left, self._event_loop) for part in parts]
        if pause is not None:
            pauses.append(pause)
        return Wait(parts, min(pauses))

    def _hear(self) -> None:
        """Takes what loads brought that are over; asks anew for keys whose loads take too long."""
        for name, part in list(self._joined.items()):
            if part.is_waited_for and part.patience > 0:
                continue
            is_absent = part.is_absent
            value = part.answer()
            if is_absent:
                self._leave(name)
                del self._left[name]
            elif value is not MISSING:
                self._leave(name)
                self._settle(name, value)
            else:
                # Before the old one is let go of, for it may be the same load.
                anew = self._begin(self._left[name])
                self._leave(name)
                (self._begun if anew.mine else self._joined)[name] = anew

    def _leave(self, name: Any) -> None:
        """Joins a load no more."""
        del self._joined[name]
        if awaited := self._awaited.pop(name, None):
            awaited.close()

    def _await(self) -> None:
        """Lists the loads that were joined as awaited. The caller is to load those alone that would
        wait for it in turn."""
        for name in [name for name in self._joined if name not in self._awaited]:
            self._awaited[name] = awaited = ExitStack()
            if awaited.enter_context(joining(self._joined[name], self._caller, False)):
                self._leave(name)
                self._alone.append(name)

    def _ask(self) -> float | None:
        """Asks for the remaining keys; returns the seconds until it has to ask again, if any."""
        for name, key in self._left.items():
            if not (name in self._joined or name in self._begun or name in self._alone):
                part = self._begin(key)
                (self._begun if part.mine else self._joined)[name] = part
        pause: float | None = None
        for name, part in list(self._begun.items()):
            try:
                step = part.step()
            except Exception as error:
                part.fail(error)
                raise
            if isinstance(step, tuple):
                self._settle(name, step[0])
            elif step is None:
                self._granted[name] = part
            else:
                pause = step if pause is None else min(pause, step)
                continue
            del self._begun[name]
        if self._granted:
            # A load must not be listed while the loader runs and it makes no progress. They are
            # begun again then.
            self._abandon(self._begun)
        return pause

    def _begin(self, key: Any) -> _native.Load:
        if self._waited >= self._cache._wait_timeout:
            self._cache._give_up()
        return self._cache._begin(key, self._task, self._waited)

    def _settle(self, name: Any, value: Any) -> None:
        self._values[name] = value
        del self._left[name]

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Around running the loader for a `Load`, and `fill`."""
        token = inside.set((*inside.get(), *map(ref, self._granted.values())))
        try:
            yield
        except Exception as error:
            for part in self._granted.values():
                part.fail(error)
            raise
        finally:
            self._abandon(self._granted)
            # A coroutine that is collected ends in another context.
            with suppress(ValueError):
                inside.reset(token)

    def fill(self, loaded: Any) -> None:
        """Stores what the loader returned. Raises the first error, after the last value was
        stored."""
        values = self._named(loaded, self._granted)
        failure: Exception | None = None
        for name, part in self._granted.items():
            if name not in values:
                part.leave_out()
                del self._left[name]
                continue
            try:
                lives = after_load(self._ttl, values[name])
                self._settle(name, part.fill(values[name], lives, True))
            except Exception as error:
                part.fail(error)
                failure = failure or error
        if failure is not None:
            raise failure

    def hand_over(self, loaded: Any) -> None:
        """Takes what the loader returned for a `LoadAlone`; nothing is stored."""
        values = self._named(loaded, self._alone)
        for name in self._alone:
            if name in values:
                self._settle(name, values[name])
            else:
                del self._left[name]
        self._alone.clear()

    def _named(self, loaded: Any, asked: Any) -> dict[Any, Any]:
        if not isinstance(loaded, Mapping):
            raise InvalidArgument(
                "the loader of get_or_set_many returns a mapping of keys to values, not "
                f"{type(loaded).__qualname__}"
            )
        values = {self._name(key): (key, value) for key, value in loaded.items()}
        for name, (key, _) in values.items():
            if name not in asked:
                raise InvalidArgument(
                    f"the loader returned a value for {key!r}, which it was not asked for: nothing "
                    "was stored"
                )
        return {name: value for name, (_, value) in values.items()}

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Around waiting."""
        began = monotonic()
        try:
            yield
        finally:
            self._waited += monotonic() - began

    def result(self) -> dict[Any, Any]:
        """The values of the keys that have one, under the keys as they were given."""
        values: dict[Any, Any] = {}
        given = set()
        for key in self._keys:
            name = self._name(key)
            if key in self._found:
                values[key] = self._found[key]
            elif name in self._values and key not in values:
                value = self._values[name]
                # Each form in which a key was given has a value of its own.
                values[key] = self._copy(value) if name in given else value
            given.add(name)
        return values

    @staticmethod
    def _abandon(parts: dict[Any, _native.Load]) -> None:
        for part in parts.values():
            part.abandon()
        parts.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._abandon(self._begun)
        self._abandon(self._granted)
        for name in list(self._joined):
            self._leave(name)
        if self.watch is not None and self._waited:
            self.watch.waited_for(self._waited)


def itself(thing: Any) -> Any:
    """The name of a key that is any object; the copy of a value that needs none."""
    return thing


def load_many(
    cache: ManyLoads,
    keys: Any,
    loader: Callable[[list[Any]], Any],
    ttl: LoadTtl,
    name: Callable[[Any], Any] = itself,
    copy: Callable[[Any], Any] = itself,
) -> dict[Any, Any]:
    """The values of the keys: found, loaded by others, or loaded by `loader`."""
    asked, found = hits = cache._hits(keys, before_load(ttl))
    if len(found) == len(asked):
        return found
    check_loader(loader)
    with Many(cache, hits, ttl, (None, None), name, copy) as many:
        if many.watch is not None:
            loader = many.watch.around(loader)
        while (turn := many.turn()) is not None:
            match turn:
                case Load(wanted):
                    with many.loading():
                        many.fill(checked(loader(wanted)))
                case LoadAlone(wanted):
                    many.hand_over(checked(loader(wanted)))
                case Wait(parts, seconds):
                    with many.waiting():
                        wait_for_any(parts, seconds)
        return many.result()
