"""What goes: by tag, by expiry, by policy."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import randrange
from typing import Any, cast

from .clock import timestamp
from .constants import EVICTION_POLICY
from .errors import Timeout
from .handle import volume_of
from .plain import plain_tag
from .rows import Rows, lives
from .store import ACCESSED, EXPIRES, PLACE, STORED, TAG, USES, Row, Store


class Removing(Rows):
    """Deletes many rows."""

    def evict(self, tag: Any, retry: bool = False) -> int:
        """Deletes what has this tag, and returns how many entries that were."""
        wanted = plain_tag(tag)
        if wanted is None:
            return 0
        return self._remove_where(lambda row: row[TAG] == wanted, retry)

    def expire(self, now: float | None = None, retry: bool = False) -> int:
        """Deletes what has expired, and returns how many entries that were."""
        at = now or timestamp()
        return self._remove_where(
            lambda row: row[EXPIRES] is not None and 0 < row[EXPIRES] < at, retry
        )

    def _remove_where(self, goes: Callable[[Row], bool], retry: bool) -> int:
        store = self._opened()
        count = 0
        places = list(store.places())
        # In portions, so that other writers wait for none of them long.
        for start in range(0, len(places), 100):
            portion = [
                place
                for place in places[start : start + 100]
                if (entry := store.place(place)) is not None
                and ((row := store.row(entry[0])) is None or goes(row))
            ]
            if not portion:
                continue
            with counting(count), self._writing(retry) as store:
                for place in portion:
                    entry = store.place(place)
                    row = None if entry is None else store.row(entry[0])
                    if entry is not None and (row is None or row[PLACE] != place or goes(row)):
                        count += store.remove_place(place)
        return count

    def cull(self, retry: bool = False) -> int:
        """Deletes what has expired, then by the policy until the volume is below `size_limit`, and
        returns how many entries that were."""
        count = self.expire(timestamp(), retry)
        if self.eviction_policy == "none":
            return 0
        store = self._opened()
        while volume_of(store.numbers.size) > self.size_limit:
            with counting(count), self._writing(retry) as store:
                removed = self._remove_by_policy(store, 10, timestamp())
            if removed == 0:
                break
            count += removed
        return count

    def clear(self, retry: bool = False) -> int:
        """Deletes all entries, and returns how many that were."""
        with counting(0), self._writing(retry) as store:
            return store.clear()

    def _cull(self, store: Store, now: float) -> None:
        self._make_room(store, now)
        store.check_room()

    def _make_room(self, store: Store, now: float) -> None:
        if self.cull_limit == 0:
            return
        numbers = store.numbers
        # A negative one is none, as it is for a database.
        left = self.cull_limit if self.cull_limit > 0 else numbers.count
        space = store.space
        limit = min(self.size_limit, space)
        looks = left + (20 if volume_of(numbers.size) < limit else 100)
        left -= store.remove_expired(now, left, looks)
        if left and self.eviction_policy != "none" and volume_of(numbers.size) >= limit:
            if self.cull_limit > 0:
                self._remove_by_policy(store, left, now)
            else:
                while volume_of(numbers.size) >= limit and self._remove_by_policy(store, 10, now):
                    pass
            # After a large value, or on a full disk, more has to go, before the host store evicts
            # by itself.
            while volume_of(numbers.size) > space and self._remove_by_policy(store, 10, now):
                pass

    def _remove_by_policy(self, store: Store, most: int, now: float) -> int:
        by = {"store_time": STORED, "access_time": ACCESSED, "access_count": USES}[
            cast(str, EVICTION_POLICY[self.eviction_policy])
        ]
        found = []
        for place in _sample(store):
            entry = store.place(place)
            if entry is not None:
                row = store.row(entry[0])
                found.append((-1 if row is None or not lives(row, now) else row[by], place))
        found.sort()
        if found and found[0][0] == -1:
            # Nothing that lives goes as long as something has expired.
            most = min(most, sum(rank == -1 for rank, _ in found))
        return sum(store.remove_place(place) for _, place in found[:most])


@contextmanager
def counting(removed: int) -> Iterator[None]:
    """A `Timeout` says how many entries had been removed before."""
    try:
        yield
    except Timeout:
        raise Timeout(removed) from None


def _sample(store: Store) -> list[int]:
    """Places among which the next to go is found: all of a small cache; of a large one those that
    were inserted first, and some others."""
    numbers = store.numbers
    if numbers.count <= 256:
        return list(store.places())
    if numbers.tail - numbers.head >= 4 * numbers.count + 1000:
        return store.some_places()
    store.outermost(last=False)  # Passes the places of those that went before.
    first = range(numbers.head, numbers.head + 40)
    return [*{*first, *(randrange(numbers.head, numbers.tail + 1) for _ in range(60))}]
