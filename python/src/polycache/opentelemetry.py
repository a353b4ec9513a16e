"""Metrics of caches for OpenTelemetry. Their names, units and attributes: `spec/metrics.md`.

    from polycache.opentelemetry import observe

    observation = observe(cache)

It needs the package `opentelemetry-api` (`pip install "polycache[opentelemetry]"`); a program that
has no SDK set up pays for nothing and gets nothing.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary, ref

try:
    from opentelemetry.metrics import (
        CallbackOptions,
        Histogram,
        Meter,
        Observation,
        get_meter,
    )
except ImportError as error:
    raise ImportError(
        "polycache.opentelemetry needs the package opentelemetry-api: "
        'pip install "polycache[opentelemetry]"'
    ) from error

from . import _native
from .async_cache import AsyncCache
from .cache import Cache
from .errors import Closed, InvalidArgument
from .memory_cache import MemoryCache
from .observers import Outcome

__all__ = ["CacheMetrics", "observe"]

Measured = dict[str, list[Observation]]

COUNTERS = {
    "polycache.reads": (
        "{read}",
        "Reads, by what they found and by the tier that answered.",
    ),
    "polycache.writes": ("{write}", "Entries stored."),
    "polycache.deletes": ("{delete}", "Entries deleted."),
    "polycache.evictions": ("{entry}", "Entries that left for want of room."),
    "polycache.expirations": ("{entry}", "Expired entries removed."),
    "polycache.load.invalidated": (
        "{load}",
        "Loaded values that were not stored because a write or another load came first.",
    ),
    "polycache.load.unstored": ("{load}", "Loaded values that could not be stored."),
    "polycache.load.wait.timeouts": (
        "{caller}",
        "Callers that waited too long for the loads of others.",
    ),
}
UP_DOWN_COUNTERS = {
    "polycache.entries": ("{entry}", "Entries held."),
    "polycache.usage": ("By", "Bytes that the entries take."),
    "polycache.limit": ("By", "Bytes that the entries may take."),
}
HISTOGRAMS = {
    "polycache.load.duration": ("s", "Duration of loaders."),
    "polycache.load.wait.duration": ("s", "How long callers waited for the loads of others."),
}
BOUNDARIES = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)

NO_LIMIT = 2**63 - 1
"""The limit of a cache that has none."""

FRESH = 1.0
"""Seconds for which statistics are fresh: the instruments of one collection share them."""

_lock = Lock()
"""Held where it changes which caches are observed; nothing of the user's runs meanwhile."""


def _forked() -> None:
    """A child has its own lock: the parent's may be held by a thread that the child lacks."""
    global _lock
    _lock = Lock()


os.register_at_fork(after_in_child=_forked)


class CacheMetrics:
    """The metrics of one cache, until they are closed; a context manager."""

    def __init__(
        self, instruments: "_Instruments", source: "_Source", listener: "_Listener"
    ) -> None:
        self._instruments = instruments
        self._source = source
        self._listener = listener

    def close(self) -> None:
        """Ends the metrics of this cache; closing again does nothing. The cache stays open."""
        self._instruments.forget(self._source)
        with _lock:
            self._source.leave(self._listener)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def observe(
    cache: Cache | AsyncCache | MemoryCache[Any, Any],
    meter: Meter | None = None,
    name: str | None = None,
) -> CacheMetrics:
    """Reports a cache to OpenTelemetry until the result is closed or the cache is gone.

    A hit costs what it costs without metrics. A collection reads the statistics of the cache once,
    in the thread that collects; over a directory that walks its index, which takes milliseconds.
    All namespaces of the handle are reported together, so one call for one of them is enough.
    Nothing keeps the cache alive, and a closed one has no values any more.

    `meter` is by default the meter `polycache` of the global provider, which may be set later.
    `name` is the attribute `polycache.cache.name`, by default that of the cache, and `default` for
    a `MemoryCache`. Caches of one process need different names.

    Raises `InvalidArgument` for what is no cache.
    """
    if isinstance(cache, AsyncCache):
        cache = cache._cache
    source: _Source
    if isinstance(cache, Cache):
        source = _OfCache(cache, cache.name if name is None else name)
    elif isinstance(cache, MemoryCache):
        source = _OfMemoryCache(cache, "default" if name is None else name)
    else:
        raise InvalidArgument(f"observe takes a cache, not {type(cache).__qualname__}")
    with _lock:
        instruments = _instruments_of(meter)
        listener = _Listener(instruments, source.name)
        instruments.sources = (*instruments.sources, source)
        source.enter(listener)
    return CacheMetrics(instruments, source, listener)


class _Listener:
    """Records what the loads of a cache take."""

    def __init__(self, instruments: "_Instruments", name: str) -> None:
        self._loads = instruments.histograms["polycache.load.duration"]
        self._waits = instruments.histograms["polycache.load.wait.duration"]
        self._attributes = {"polycache.cache.name": name}

    def loaded(self, outcome: Outcome, seconds: float) -> None:
        self._loads.record(seconds, {**self._attributes, "polycache.load.outcome": outcome})

    def waited(self, seconds: float) -> None:
        self._waits.record(seconds, self._attributes)


class _Source(ABC):
    """A cache that is observed, held weakly: what is held is gone with the cache."""

    def __init__(self, held: Any, name: str) -> None:
        self.name = name
        self._held = ref(held)
        self._measured: Measured = {}
        self._taken_at = -inf
        self._taken_by: set[str] = set()

    def measured(self, instrument: str) -> list[Observation]:
        """What an instrument has to report. Statistics are read once for all instruments of a
        collection: anew when an instrument asks that has reported them already.

        Raises `Closed`, and LookupError when the cache is gone."""
        if instrument in self._taken_by or monotonic() - self._taken_at > FRESH:
            self._taken_by = set()
            self._measured = self._measure()
            self._taken_at = monotonic()
        self._taken_by.add(instrument)
        return self._measured.get(instrument, [])

    def held(self) -> Any:
        held = self._held()
        if held is None:
            raise LookupError("the cache is gone")
        return held

    def value(self, value: int, tier: str | None = None, **more: str) -> Observation:
        attributes = {"polycache.cache.name": self.name}
        if tier is not None:
            attributes["polycache.tier"] = tier
        for word, text in more.items():
            attributes["polycache." + word.replace("_", ".")] = text
        return Observation(value, attributes)

    def loads(self, stats: Mapping[str, int]) -> Measured:
        """What every kind of cache counts of its loads."""
        return {
            "polycache.load.unstored": [self.value(stats["unstored"])],
            "polycache.load.wait.timeouts": [self.value(stats["wait_timeouts"])],
        }

    def enter(self, listener: _Listener) -> None:
        observers = self._observers()
        observers.listeners = (*observers.listeners, listener)

    def leave(self, listener: _Listener) -> None:
        try:
            observers = self._observers()
        except LookupError:
            return
        observers.listeners = tuple(one for one in observers.listeners if one is not listener)

    @abstractmethod
    def _observers(self) -> Any:
        """What the cache tells its listeners by. Raises LookupError when the cache is gone."""

    @abstractmethod
    def _measure(self) -> Measured:
        """What every instrument has to report now."""


class _OfCache(_Source):
    """A handle: what its caches have in common is held, for one may go while another stays."""

    def __init__(self, cache: Cache, name: str) -> None:
        super().__init__(cache._observers, name)
        self._tier = "memory" if cache.path is None else "host"
        # Not the cache itself, which holds its observers.
        handle = _native.Cache.__new__(_native.Cache, cache, {"namespace": "metrics"})
        cache._observers.counts = handle._stats

    def _observers(self) -> Any:
        return self.held()

    def _measure(self) -> Measured:
        stats = self.held().counts()
        tier, value = self._tier, self.value
        reads = [
            value(stats["memory_hits"], "memory", read_outcome="hit"),
            value(stats["misses"], tier, read_outcome="miss"),
        ]
        if tier == "host":
            hits = stats["hits"] - stats["memory_hits"]
            reads.append(value(hits, tier, read_outcome="hit"))
            evictions = [
                value(stats[f"evicted_by_{cause}"], tier, eviction_cause=cause)
                for cause in ("age", "conflict", "failed_put")
            ]
        else:
            evictions = [value(stats["evicted_by_age"], tier, eviction_cause="room")]
        limit = stats["limit"]
        return {
            "polycache.reads": reads,
            "polycache.writes": [value(stats["writes"], tier)],
            "polycache.deletes": [value(stats["deletes"], tier)],
            "polycache.evictions": evictions,
            "polycache.expirations": [value(stats["expired"], tier)],
            "polycache.entries": [value(stats["entries"], tier)],
            "polycache.usage": [value(stats["bytes"], tier)],
            "polycache.limit": [] if limit == NO_LIMIT else [value(limit, tier)],
            "polycache.load.invalidated": [value(stats["invalidated_loads"])],
            **self.loads(stats),
        }


class _OfMemoryCache(_Source):
    def _observers(self) -> Any:
        return self.held()._observers

    def _measure(self) -> Measured:
        stats = self.held()._stats()
        tier, value = "memory", self.value
        return {
            "polycache.reads": [
                value(stats["hits"], tier, read_outcome="hit"),
                value(stats["misses"], tier, read_outcome="miss"),
            ],
            "polycache.writes": [value(stats["writes"], tier)],
            "polycache.deletes": [value(stats["deletes"], tier)],
            "polycache.evictions": [value(stats["evicted"], tier, eviction_cause="room")],
            "polycache.expirations": [value(stats["expired"], tier)],
            "polycache.entries": [value(stats["entries"], tier)],
            "polycache.usage": [value(stats["bytes"], tier)],
            **self.loads(stats),
        }


class _Instruments:
    """The instruments of a meter, and the caches that report to it. OpenTelemetry takes no
    callbacks back, so there is one for each instrument, which goes through the caches.

    Tuples are replaced, never changed: a collection goes through them without a lock.
    """

    def __init__(self, meter: Meter) -> None:
        self.sources: tuple[_Source, ...] = ()
        for name, (unit, description) in COUNTERS.items():
            meter.create_observable_counter(name, [self._callback(name)], unit, description)
        for name, (unit, description) in UP_DOWN_COUNTERS.items():
            meter.create_observable_up_down_counter(name, [self._callback(name)], unit, description)
        self.histograms = {
            name: _histogram(meter, name, unit, description)
            for name, (unit, description) in HISTOGRAMS.items()
        }

    def _callback(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_: CallbackOptions) -> Iterator[Observation]:
            for source in self.sources:
                try:
                    measured = source.measured(name)
                except (Closed, LookupError):
                    self.forget(source)
                else:
                    yield from measured

        return observe

    def forget(self, source: _Source) -> None:
        with _lock:
            self.sources = tuple(one for one in self.sources if one is not source)


def _histogram(meter: Meter, name: str, unit: str, description: str) -> Histogram:
    try:
        return meter.create_histogram(
            name, unit, description, explicit_bucket_boundaries_advisory=BOUNDARIES
        )
    except TypeError:  # Before opentelemetry-api 1.30.
        return meter.create_histogram(name, unit, description)


_of_meters: "WeakKeyDictionary[Meter, _Instruments]" = WeakKeyDictionary()
_of_default: list[_Instruments] = []


def _instruments_of(meter: Meter | None) -> _Instruments:
    """A meter is given its instruments once, for the SDK ignores the second ones."""
    if meter is not None:
        instruments = _of_meters.get(meter)
        if instruments is None:
            instruments = _of_meters[meter] = _Instruments(meter)
        return instruments
    if not _of_default:
        _of_default.append(_Instruments(get_meter("polycache")))
    return _of_default[0]
