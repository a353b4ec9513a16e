"""A store that grows: what an operation and an entry cost when it holds so many.

Ten million keys are not kept: they are made a piece at a time, while no clock runs.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from subject import Run

from .check import Wrong, empty
from .items import SEED, VALUES, values, wide_key
from .opened import Opened
from .rounds import BYTES, MICROSECONDS, MILLISECONDS
from .store import Place, Store

PERCENT = "% of the entries"
# Keys that are made at a time; keys that are read in random order; of the keys one in so many, and
# at most so many, that are set again.
PIECE, READ, SET_AGAIN, ONE_IN = 100_000, 100_000, 100_000, 4
# Keys that are read before, so that every page of the store was touched.
TOUCHED = 1_000_000
# Values that are looked at.
LOOKED_AT = 1000
# Bytes of values from which on the kernel's writing of them would disturb the next store.
MUCH = 32 << 20
# Of all entries, the most that may be evicted because the index had no place, in percent.
MOST_CONFLICTS = 0.1

T = TypeVar("T")


class Growing(Opened):
    """Its operations follow each other: SET begins with an empty folder, the others find what it
    wrote."""

    def __init__(
        self, kind: type[Store], directory: str, keys: int, size: int, **_: object
    ) -> None:
        self.kind = kind
        self.name, self.versions = kind.name, dict(kind.versions)
        self.place = Place(Path(directory) / "store", keys, size, growing=True)
        self.texts = values(size, min(VALUES, keys))
        self.timed = min(keys, kind.timed_sets or keys)
        self.notes = (kind.durability, kind.compression, *kind.notes, *_loaded(self.timed, keys))
        chance = random.Random(SEED)
        self.read = chance.sample(range(keys), min(READ, keys))
        self.set_again = chance.sample(range(keys), min(SET_AGAIN, max(1, keys // ONE_IN)))
        empty(self.place)

    def operations(self) -> dict[str, tuple[str, Run]]:
        all: dict[str, tuple[str, Run]] = {
            "SET": (MICROSECONDS, self._grow),
            "reopen": (MILLISECONDS, lambda _: self.reopened(*self._items([0])[0])),
            "SIZE of an entry": (BYTES, lambda _: self.size / self.place.keys),
            "GET, random order": (MICROSECONDS, self._get),
            "SET over another, random order": (MICROSECONDS, self._set_again),
        }
        if self.kind.has_conflicts:
            all["evicted for want of a place"] = (PERCENT, self._conflicts)
        return all

    def close(self) -> None:
        """Gives the disk back, too: the next workload needs it."""
        super().close()
        empty(self.place)

    def _grow(self, _: float) -> float:
        """Microseconds of a set, the mean of all that are timed."""
        store, keys = self.begin(), self.place.keys
        for piece in self._pieces(range(keys - self.timed)):
            store.load_all(piece)
        seconds = 0.0
        for piece in self._pieces(range(keys - self.timed, keys)):
            seconds += _seconds(store.set_all, piece)
        if keys * self.place.size >= MUCH:
            to_disk(self.place.directory)
        return seconds / self.timed * 1e6

    def _get(self, _: float) -> float:
        step = max(1, self.place.keys // TOUCHED)
        for numbers in _cut(range(0, self.place.keys, step)):
            self.opened.get_all([wide_key(number) for number in numbers])
        keys, misses = [wide_key(number) for number in self.read], 0

        def run(keys: Sequence[str]) -> None:
            nonlocal misses
            misses = self.opened.get_all(keys)

        seconds = _seconds(run, keys)
        self._look()
        if misses > self.opened.conflicts():
            raise LookupError(f"{misses} of {len(keys)} keys were not there")
        return seconds / len(keys) * 1e6

    def _look(self) -> None:
        """A store with the wrong values is no measurement."""
        for key, value in self._items(self.read[:LOOKED_AT]):
            found = self.opened.get(key)
            if found != value and not (found is None and self.opened.conflicts()):
                raise Wrong(f"{key}: it read another value, or none")

    def _set_again(self, _: float) -> float:
        items = self._items(self.set_again, shift=1)
        return _seconds(self.opened.set_all, items) / len(items) * 1e6

    def _conflicts(self, _: float) -> float:
        share = self.opened.conflicts() / self.place.keys * 100
        if share >= MOST_CONFLICTS:
            raise Wrong(f"{share:.2g} % of the entries were evicted for want of a place")
        return share

    def _items(self, numbers: Iterable[int], shift: int = 0) -> list[tuple[str, str]]:
        """Keys with their values, or with those of others."""
        texts, count = self.texts, len(self.texts)
        return [(wide_key(number), texts[(number + shift) % count]) for number in numbers]

    def _pieces(self, numbers: range) -> Iterator[list[tuple[str, str]]]:
        return map(self._items, _cut(numbers))


def _cut(numbers: range) -> Iterator[range]:
    for first in range(0, len(numbers), PIECE):
        yield numbers[first : first + PIECE]


def _seconds(run: Callable[[T], object], over: T) -> float:
    start = perf_counter()
    run(over)
    return perf_counter() - start


def to_disk(folder: Path) -> None:
    """Waits until the kernel has written all files."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _loaded(timed: int, keys: int) -> list[str]:
    return [] if timed == keys else [f"the last {timed:,} sets are timed, the others were loaded"]
