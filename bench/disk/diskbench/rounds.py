"""A round as the page had it: a fresh store, every key set, read and deleted, in one process."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, perf_counter_ns

from subject import Run, Subject

from .check import check, empty
from .items import how_many, items, shuffled
from .store import Place, Store
from .usage import allocated

SECONDS, BYTES, MILLISECONDS, MICROSECONDS = "s", "bytes", "ms", "µs per operation"
# Keys that are read in random order, drawn from all: reading all again would tell nothing new.
IN_RANDOM_ORDER = 20_000
# Operations that are timed one by one, for their p99: so many, and of the keys one in so many.
SINGLE, ONE_IN = 2000, 4
# With fewer keys than this a p99 says nothing, and neither does a size that is scaled up.
FEWEST = 100


class Rounds(Subject):
    """Its operations follow each other: SET begins with an empty folder, the others find what it
    wrote."""

    def __init__(
        self,
        kind: type[Store],
        directory: str,
        keys: int,
        size: int,
        share: float = 1,
        p99: bool = True,
        **_: object,
    ) -> None:
        self.kind, self.p99 = kind, p99 and kind.single
        self.name, self.versions = kind.name, dict(kind.versions)
        count = how_many(keys, kind.most, share)
        self.all_keys, self.scale = keys, keys / count
        self.place = Place(Path(directory) / "store", count, size)
        self.notes = (kind.durability, kind.compression, *kind.notes, *_scaled(count, keys))
        self.items = items(count, size)
        self.keys = [key for key, _ in self.items]
        self.shuffled = shuffled(self.keys)[:IN_RANDOM_ORDER]
        self.singles = other_items(self.items)
        self.store: Store | None = None
        self.size = 0
        empty(self.place)

    def operations(self) -> dict[str, tuple[str, Run]]:
        all: dict[str, tuple[str, Run]] = {"SET": (SECONDS, self._set)}
        if not self.kind.writes_only:
            all["GET"] = (SECONDS, lambda _: self._get(self.keys))
            all["GET, random order"] = (SECONDS, lambda _: self._get(self.shuffled))
            all["reopen"] = (MILLISECONDS, self._reopen)
            if len(self.keys) >= FEWEST:
                all["SIZE"] = (BYTES, lambda _: self.size * self.scale)
        if self.p99 and len(self.singles) >= FEWEST:
            all["GET, p99"] = (MICROSECONDS, self._p99_get)
            all["SET over another, p99"] = (MICROSECONDS, self._p99_set)
        return all | {"DELETE": (SECONDS, self._delete)}

    def check(self) -> None:
        check(self.kind, self.place)

    def close(self) -> None:
        if self.store:
            self.store.close()

    def _set(self, _: float) -> float:
        if self.store:
            self.store.close()
        # Libraries must not free old memory while we measure.
        self.store = None
        gc.collect()
        empty(self.place)
        self.store = self.kind(self.place)
        return self._timed(self.store.set_all, self.items)

    def _get(self, keys: Sequence[str]) -> float:
        misses = 0

        def run(keys: Sequence[str]) -> None:
            nonlocal misses
            misses = self._open.get_all(keys)

        seconds = self._timed(run, keys)
        if misses:
            raise LookupError(f"{misses} of {len(keys)} keys were not there")
        return seconds

    def _delete(self, _: float) -> float:
        seconds = self._timed(self._open.delete_all, self.keys)
        if any(self._open.get(key) is not None for key in self.shuffled[:10]):
            raise LookupError("a deleted key is there")
        return seconds

    def _reopen(self, _: float) -> float:
        """Close, open and the first get. The size is taken in between, when nothing is held back
        from the disk."""
        store, self.store = self._open, None
        start = perf_counter()
        store.close()
        del store
        closed = perf_counter()
        self.size = allocated(self.place.directory)
        opening = perf_counter()
        self.store = self.kind(self.place)
        value = self.store.get(self.keys[0])
        end = perf_counter()
        if value != self.items[0][1]:
            raise LookupError("the first key was not there any more")
        return (end - opening + closed - start) * 1000

    def _p99_get(self, _: float) -> float:
        get = self._open.get
        return _p99([(get, (key,)) for key in self.shuffled[:SINGLE]])

    def _p99_set(self, _: float) -> float:
        set = self._open.set
        return _p99([(set, item) for item in self.singles])

    @property
    def _open(self) -> Store:
        assert self.store, "SET opens it"
        return self.store

    def _timed(self, loop: Callable[[Sequence], object], over: Sequence) -> float:  # type: ignore[type-arg]
        """Seconds, as if all keys of the workload had been used."""
        start = perf_counter()
        loop(over)
        return (perf_counter() - start) * self.all_keys / len(over)


def other_items(items: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Some of the keys, each with the value of another. Few, because what they replace still takes
    space in some stores, and none is to come near its limit."""
    step = max(ONE_IN, len(items) // SINGLE)
    return [(key, items[-1 - number * step][1]) for number, (key, _) in enumerate(items[::step])]


def _p99(calls: list[tuple[Callable[..., object], tuple[str, ...]]]) -> float:
    """Microseconds of the call that one in a hundred exceeds; a look at the clock is in them."""
    times = []
    for call, arguments in calls:
        start = perf_counter_ns()
        call(*arguments)
        times.append(perf_counter_ns() - start)
    return sorted(times)[len(times) * 99 // 100] / 1000


def _scaled(count: int, keys: int) -> list[str]:
    if count == keys:
        return []
    return [f"measured over the first {count:,} of {keys:,} keys, scaled"]
