"""A round as the page had it: a fresh store, every key set, read and deleted, in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, perf_counter_ns

from subject import Run

from .check import empty
from .items import how_many, items, shuffled
from .opened import Opened
from .store import Place, Store

SECONDS, BYTES, MILLISECONDS, MICROSECONDS = "s", "bytes", "ms", "µs per operation"
# Keys that are read in random order, drawn from all: reading all again would tell nothing new.
IN_RANDOM_ORDER = 20_000
# Operations that are timed one by one, for their percentiles: so many, and of the keys one in so
# many.
SINGLE, ONE_IN = 2000, 4
# With fewer keys than this a p99 says nothing, and neither does a size that is scaled up.
FEWEST = 100
# In thousandths, and the fewest operations of which each says something.
PERCENTILES = {"p50": (500, FEWEST), "p99": (990, FEWEST), "p99.9": (999, 1000)}


class Rounds(Opened):
    """Its operations follow each other: SET begins with an empty folder, the others find what it
    wrote."""

    def __init__(
        self,
        kind: type[Store],
        directory: str,
        keys: int,
        size: int,
        share: float = 1,
        percentiles: bool = True,
        **_: object,
    ) -> None:
        self.kind, self.percentiles = kind, percentiles and kind.single
        self.name, self.versions = kind.name, dict(kind.versions)
        count = how_many(keys, kind.most, share)
        self.all_keys, self.scale = keys, keys / count
        self.place = Place(Path(directory) / "store", count, size)
        self.notes = (kind.durability, kind.compression, *kind.notes, *_scaled(count, keys))
        self.items = items(count, size)
        self.keys = [key for key, _ in self.items]
        self.shuffled = shuffled(self.keys)[:IN_RANDOM_ORDER]
        self.singles = other_items(self.items)
        empty(self.place)

    def operations(self) -> dict[str, tuple[str, Run]]:
        all: dict[str, tuple[str, Run]] = {"SET": (SECONDS, self._set)}
        if not self.kind.writes_only:
            all["GET"] = (SECONDS, lambda _: self._get(self.keys))
            all["GET, random order"] = (SECONDS, lambda _: self._get(self.shuffled))
            all["reopen"] = (MILLISECONDS, lambda _: self.reopened(*self.items[0]))
            if len(self.keys) >= FEWEST:
                all["SIZE"] = (BYTES, lambda _: self.size * self.scale)
        if self.percentiles:
            gets = [(key,) for key in self.shuffled[:SINGLE]]
            all |= self._percentiles("GET", lambda: self.opened.get, gets)
            all |= self._percentiles("SET over another", lambda: self.opened.set, self.singles)
        return all | {"DELETE": (SECONDS, self._delete)}

    def _percentiles(
        self,
        operation: str,
        method: Callable[[], Callable[..., object]],
        calls: Sequence[tuple[str, ...]],
    ) -> dict[str, tuple[str, Run]]:
        """The first one times the calls, one by one; the others look at the same times."""
        times: list[int] = []

        def of(thousandths: int, measures: bool) -> Run:
            def run(_: float) -> float:
                if measures:
                    times[:] = []
                    times[:] = sorted(_each(method(), calls))
                return times[len(times) * thousandths // 1000] / 1000

            return run

        return {
            f"{operation}, {name}": (MICROSECONDS, of(thousandths, measures=not number))
            for number, (name, (thousandths, fewest)) in enumerate(PERCENTILES.items())
            if len(calls) >= fewest
        }

    def _set(self, _: float) -> float:
        return self._timed(self.begin().set_all, self.items)

    def _get(self, keys: Sequence[str]) -> float:
        misses = 0

        def run(keys: Sequence[str]) -> None:
            nonlocal misses
            misses = self.opened.get_all(keys)

        seconds = self._timed(run, keys)
        if misses:
            raise LookupError(f"{misses} of {len(keys)} keys were not there")
        return seconds

    def _delete(self, _: float) -> float:
        seconds = self._timed(self.opened.delete_all, self.keys)
        if any(self.opened.get(key) is not None for key in self.shuffled[:10]):
            raise LookupError("a deleted key is there")
        return seconds

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


def _each(call: Callable[..., object], calls: Sequence[tuple[str, ...]]) -> list[int]:
    """Nanoseconds of every call; a look at the clock is in them."""
    times = []
    for arguments in calls:
        start = perf_counter_ns()
        call(*arguments)
        times.append(perf_counter_ns() - start)
    return times


def _scaled(count: int, keys: int) -> list[str]:
    if count == keys:
        return []
    return [f"measured over the first {count:,} of {keys:,} keys, scaled"]
