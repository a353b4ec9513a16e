"""Queues, and the order of keys."""

from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from ..errors import InvalidArgument, InvalidKey
from .clock import timestamp
from .constants import ENOVAL
from .keys import sorting
from .plain import expires_at
from .removing import Removing
from .rows import asked_for, code_of
from .store import EXPIRES, LONGEST_KEY, PLACE, TAG, Store

START = 500_000_000_000_000
"""The first number of a queue."""


class Queues(Removing):
    """Rows at the ends of queues, and in the order of insertion."""

    def push(
        self,
        value: Any,
        prefix: str | None = None,
        side: str = "back",
        expire: float | None = None,
        read: bool = False,
        tag: Any = None,
        retry: bool = False,
    ) -> Any:
        """Stores a value at one end, "back" or "front", of the queue of this prefix, and returns
        its key: a number, or the prefix and a number. See `set`."""
        back = _is_back(side)
        key_at = _keys_of_queue(prefix)
        now = timestamp()
        expires = expires_at(now, expire)
        with self._writing(retry) as store:
            at = store.end_of_queue(prefix, back, lambda number: code_of(key_at(number)))
            at = START if at == 0 else at + 1 if back else at - 1
            key = key_at(at)
            code = code_of(key)
            if store.row(code) is not None:
                raise InvalidArgument(f"the queue cannot grow at this side: {key!r} is in use")
            row = self._row(code, key, value, read, now, expires, tag)
            self._put(store, code, None, row)
            self._cull(store, now)
        return key

    def pull(
        self,
        prefix: str | None = None,
        default: Any = (None, None),
        side: str = "front",
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """Takes the key and the value at one end of a queue, or returns `default`. Each value goes
        to one caller."""
        return self._at_end(prefix, default, side, expire_time, tag, retry, takes=True)

    def peek(
        self,
        prefix: str | None = None,
        default: Any = (None, None),
        side: str = "front",
        expire_time: bool = False,
        tag: bool = False,
        retry: bool = False,
    ) -> Any:
        """The key and the value at one end of a queue, which stay there, or `default`."""
        return self._at_end(prefix, default, side, expire_time, tag, retry, takes=False)

    def _at_end(
        self,
        prefix: str | None,
        default: Any,
        side: str,
        expire_time: bool,
        tag: bool,
        retry: bool,
        takes: bool,
    ) -> Any:
        back = _is_back(side)
        key_at = _keys_of_queue(prefix)
        with self._writing(retry) as store:
            while True:
                at = store.end_of_queue(prefix, back, lambda number: code_of(key_at(number)))
                if at == 0:
                    return asked_for(default, None, None, expire_time, tag)
                key = key_at(at)
                code = code_of(key)
                row = store.row(code)
                assert row is not None
                if row[EXPIRES] is not None and row[EXPIRES] < timestamp():
                    store.remove(code, row)
                    continue
                raw = self._unsealed(store, code, row)
                if takes or raw is ENOVAL:
                    store.remove(code, row)
                if raw is not ENOVAL:
                    break
        return asked_for(
            (key, self._loaded(row, raw, False)), row[EXPIRES], row[TAG], expire_time, tag
        )

    def peekitem(
        self, last: bool = True, expire_time: bool = False, tag: bool = False, retry: bool = False
    ) -> Any:
        """The key and the value that were inserted last, or first. Raises KeyError when the cache
        is empty."""
        found = None
        with self._writing(retry) as store:
            while (place := store.outermost(last)) is not None:
                code, seal = store.place(place)
                row = store.row(code)
                if (
                    row is not None
                    and row[PLACE] == place
                    and not (row[EXPIRES] is not None and row[EXPIRES] < timestamp())
                ):
                    raw = self._unsealed(store, code, row)
                    if raw is not ENOVAL:
                        found = code, seal, row, raw
                        break
                store.remove_place(place)
        # All that may be raised is so behind the block, or what had expired would stay.
        if found is None:
            raise KeyError("dictionary is empty")
        code, seal, row, raw = found
        pair = (self._key(code, seal), self._loaded(row, raw, False))
        return asked_for(pair, row[EXPIRES], row[TAG], expire_time, tag)

    def __iter__(self) -> Iterator[Any]:
        """Keys in the order of insertion, expired ones too."""
        return self._keys(self._opened().places())

    def __reversed__(self) -> Iterator[Any]:
        return self._keys(self._opened().places(ascending=False))

    def _keys(self, places: Iterator[int]) -> Iterator[Any]:
        store = self._opened()
        for place in places:
            entry = store.place(place)
            if entry is not None:
                yield self._key(*entry)

    def iterkeys(self, reverse: bool = False) -> Iterator[Any]:
        """Keys in their own order: numbers, text, bytes, then all others; also those that are
        stored meanwhile, if they come later in the order."""
        return (self._key(code, seal) for code, seal in self._sorted(reverse))

    def _sorted(self, reverse: bool, after: bytes | None = None) -> Iterator[tuple[bytes, Any]]:
        """Keys as bytes with their seals, in their own order, those that come behind `after`."""
        store = self._opened()
        last = None if after is None else sorting(after)
        seen = store.numbers.next
        left = [(sorting(code), code, seal) for code, seal in _entries(store, store.places())]
        left.sort(key=_order)
        at = 0
        while True:
            if (new := store.numbers.next) != seen:
                # What was stored since has places of its own.
                for code, seal in _entries(store, range(seen, new)):
                    insort(left, (sorting(code), code, seal), at, key=_order)
                seen = new
            if at == len(left):
                return
            place, code, seal = left.pop() if reverse else left[at]
            at += not reverse
            # A key that was deleted and stored again is there twice.
            if last is not None and (place >= last if reverse else place <= last):
                continue
            # It may be gone meanwhile.
            if store.row(code) is not None:
                last = place
                yield code, seal


_order = itemgetter(0)


def _entries(store: Store, places: Iterable[int]) -> Iterator[tuple[bytes, Any]]:
    """The keys at some places, as bytes, with their seals."""
    for place in places:
        entry = store.place(place)
        if entry is not None:
            yield entry[0], entry[1]


def _is_back(side: str) -> bool:
    if side not in ("back", "front"):
        raise KeyError(side)
    return side == "back"


def _keys_of_queue(prefix: str | None) -> Callable[[int], Any]:
    if prefix is None:
        return lambda number: number
    if len(prefix.encode()) > LONGEST_KEY - 17:
        raise InvalidKey(f"the prefix of a queue has at most {LONGEST_KEY - 17} bytes")
    return lambda number: f"{prefix}-{number:015d}"
