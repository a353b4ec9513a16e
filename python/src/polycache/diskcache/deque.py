"""diskcache's `Deque`: a sequence in a directory, for several processes."""

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Self, TypeVar, cast

from .cache import Cache
from .constants import ENOVAL
from .handle import Block
from .pickling import Secret
from .rows import code_of

T = TypeVar("T")
_EMPTY = (None, ENOVAL)


class Deque(Sequence[T]):
    """A sequence whose ends many threads and processes append to and take from, each item once.

    `directory` is made if it is missing; None is a new temporary one, which stays. Beyond `maxlen`
    items go at the other end. Nothing is evicted.
    """

    _cache: Cache
    _maxlen: float

    def __init__(
        self,
        iterable: Iterable[T] = (),
        directory: str | os.PathLike[str] | None = None,
        maxlen: float | None = None,
        *,
        pickle_secret: Secret | None = None,
    ) -> None:
        self._cache = Cache(directory, eviction_policy="none", pickle_secret=pickle_secret)
        self._maxlen = float("inf") if maxlen is None else maxlen
        self._extend(iterable)

    @classmethod
    def fromcache(
        cls, cache: Cache, iterable: Iterable[T] = (), maxlen: float | None = None
    ) -> Self:
        """A deque over a cache, which should evict nothing."""
        deque = cls.__new__(cls)
        deque._cache = cache
        deque._maxlen = float("inf") if maxlen is None else maxlen
        deque._extend(iterable)
        return deque

    @property
    def cache(self) -> Cache:
        """The cache that holds it."""
        return self._cache

    @property
    def directory(self) -> str:
        """The directory that holds it."""
        return self._cache.directory

    @property
    def maxlen(self) -> float:
        """The most items. Setting it takes the first ones out that are too many."""
        return self._maxlen

    @maxlen.setter
    def maxlen(self, value: float) -> None:
        self._maxlen = value
        with self._cache.transact(retry=True):
            while len(self._cache) > self._maxlen:
                self._popleft()

    # By place.

    def _at(self, index: int, call: Callable[[Any], Any]) -> Any:
        count = len(self)
        place = operator.index(index)
        if not -count <= place < count:
            raise IndexError("deque index out of range")
        numbers = self._numbers()
        keys: Iterable[Any]
        if numbers is not None and len(numbers) == count:
            keys = [numbers[place]]
        elif place >= 0:
            keys = islice(self._cache.iterkeys(), place, None)
        else:
            keys = islice(self._cache.iterkeys(reverse=True), -place - 1, None)
        for key in keys:
            try:
                return call(key)
            except KeyError:
                continue  # Another process took it out; the next one has its place.
        raise IndexError("deque index out of range")

    def _numbers(self) -> range | None:
        """The keys, when they are numbers without a gap."""
        numbers = self._cache._opened().numbers
        # As many keys of another kind as there are gaps would look the same.
        if numbers.count and numbers.back - numbers.front + 1 == numbers.count == numbers.queued:
            return range(numbers.front, numbers.back + 1)
        return None

    def _keys(self, reverse: bool = False) -> Iterator[Any]:
        last = None
        while (numbers := self._numbers()) is not None:
            if last is not None:  # What was added since.
                numbers = range(numbers.start, last) if reverse else range(last + 1, numbers.stop)
            if not numbers:
                return
            for last in reversed(numbers) if reverse else numbers:
                yield last
        after = None if last is None else code_of(last)
        for code, seal in self._cache._sorted(reverse, after):
            yield self._cache._key(code, seal)

    def __getitem__(self, index: int) -> T:  # type: ignore[override]
        value: T = self._at(index, self._cache.__getitem__)
        return value

    def __setitem__(self, index: int, value: T) -> None:
        def replace(key: Any) -> None:
            with self._cache._writing():
                if key not in self._cache:
                    raise KeyError(key)
                self._cache[key] = value

        self._at(index, replace)

    def __delitem__(self, index: int) -> None:
        self._at(index, self._cache.__delitem__)

    # As a whole.

    def __repr__(self) -> str:
        return f"{type(self).__name__}(directory={self.directory!r})"

    def _compared(self, that: object, compare: Callable[[Any, Any], bool]) -> Any:
        if not isinstance(that, Sequence):
            return NotImplemented
        mine, others = list(self), list(that)
        if len(mine) != len(others) and compare in (operator.eq, operator.ne):
            return compare is operator.ne
        for one, other in zip(mine, others, strict=False):
            if one != other:
                return compare(one, other)
        return compare(len(mine), len(others))

    def __eq__(self, that: object) -> Any:
        return self._compared(that, operator.eq)

    def __ne__(self, that: object) -> Any:
        return self._compared(that, operator.ne)

    def __lt__(self, that: object) -> Any:
        return self._compared(that, operator.lt)

    def __gt__(self, that: object) -> Any:
        return self._compared(that, operator.gt)

    def __le__(self, that: object) -> Any:
        return self._compared(that, operator.le)

    def __ge__(self, that: object) -> Any:
        return self._compared(that, operator.ge)

    __hash__ = None  # type: ignore[assignment]

    def __iadd__(self, iterable: Iterable[T]) -> Self:
        self._extend(iterable)
        return self

    def __iter__(self) -> Iterator[T]:
        return self._values(self._keys())

    def __reversed__(self) -> Iterator[T]:
        return self._values(self._keys(reverse=True))

    def _values(self, keys: Iterator[Any]) -> Iterator[T]:
        for key in keys:
            value = self._cache.get(key, ENOVAL, retry=True)
            if value is not ENOVAL:
                yield value

    def __len__(self) -> int:
        return len(self._cache)

    def __getstate__(self) -> tuple[Any, ...]:
        self._cache.__getstate__()  # Refuses a secret.
        return self.directory, self.maxlen

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        directory, maxlen = state
        self.__init__(directory=directory, maxlen=maxlen)  # type: ignore[misc]

    def copy(self) -> Self:
        """Another deque over the same directory: both see the same items."""
        return type(self).fromcache(self._cache, maxlen=self._maxlen)

    def count(self, value: Any) -> int:
        """How many items are equal to a value."""
        return sum(1 for item in self if value == item)

    # At the ends.

    def append(self, value: T) -> None:
        """Adds an item at the back."""
        with self._cache._writing():
            self._cache.push(value, retry=True)
            if len(self._cache) > self._maxlen:
                self._popleft()

    def appendleft(self, value: T) -> None:
        """Adds an item at the front."""
        with self._cache._writing():
            self._cache.push(value, side="front", retry=True)
            if len(self._cache) > self._maxlen:
                self._pop()

    def extend(self, iterable: Iterable[T]) -> None:
        """Adds items at the back, one after another."""
        for value in iterable:
            self._append(value)

    def extendleft(self, iterable: Iterable[T]) -> None:
        """Adds items at the front, one after another."""
        for value in iterable:
            self._appendleft(value)

    def peek(self) -> T:
        """The item at the back. Raises IndexError when there is none."""
        return cast(T, _item(self._cache.peek(default=_EMPTY, side="back", retry=True), "peek"))

    def peekleft(self) -> T:
        """The item at the front. Raises IndexError when there is none."""
        return cast(T, _item(self._cache.peek(default=_EMPTY, side="front", retry=True), "peek"))

    def pop(self) -> T:
        """Takes the item at the back. Raises IndexError when there is none."""
        return cast(T, _item(self._cache.pull(default=_EMPTY, side="back", retry=True), "pop"))

    def popleft(self) -> T:
        """Takes the item at the front. Raises IndexError when there is none."""
        return cast(T, _item(self._cache.pull(default=_EMPTY, side="front", retry=True), "pop"))

    # Many.

    def transact(self) -> Block:
        """See `Cache.transact`; it waits for other writers."""
        return self._cache.transact(retry=True)

    def clear(self) -> None:
        """Takes all items out."""
        self._cache.clear(retry=True)

    def remove(self, value: Any) -> None:
        """Takes out the first item that is equal to a value. Raises ValueError without one."""
        for key in self._keys():
            item = self._cache.get(key, ENOVAL, retry=True)
            if item is not ENOVAL and value == item and self._cache.delete(key, retry=True):
                return
        raise ValueError("deque.remove(value): value not in deque")

    def reverse(self) -> None:
        """Reverses the order, at once for all processes."""
        with self._cache.transact(retry=True):
            items = list(reversed(self))
            self._clear()
            self._extend(items)

    def rotate(self, steps: int = 1) -> None:
        """Moves so many items from the back to the front, or for a negative number from the front
        to the back, at once for all processes."""
        if not isinstance(steps, int):
            raise TypeError(f"integer argument expected, got {type(steps).__name__}")
        with self._cache.transact(retry=True):
            count = len(self)
            if count == 0:
                return
            for _ in range(abs(steps) % count):
                if steps > 0:
                    self._appendleft(self._pop())
                else:
                    self._append(self._popleft())

    # By these the methods call each other, so that a subclass which overrides one changes only it.
    _append, _appendleft, _pop, _popleft = append, appendleft, pop, popleft
    _clear, _extend = clear, extend


def _item(pair: Any, what: str) -> Any:
    if pair[1] is ENOVAL:
        raise IndexError(f"{what} from an empty deque")
    return pair[1]
