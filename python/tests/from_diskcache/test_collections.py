"""`Deque` and `Index` beside the real ones."""

import contextlib
import operator
import pickle
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]
import pytest
from both import SECRET, Both
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import polycache.diskcache as ours

ITEMS = st.integers(0, 3) | st.sampled_from(["a", b"b", (1, 2), None])
PLACES = st.integers(-4, 4)


class DequeMachine(RuleBasedStateMachine):
    both: Both

    @initialize(maxlen=st.sampled_from([None, 3]), items=st.lists(ITEMS, max_size=4))
    def begin(self, maxlen: Any, items: list[Any]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        self.both = Both(
            diskcache.Deque(items, str(folder / "theirs"), maxlen),
            ours.Deque(items, str(folder / "mine"), maxlen, pickle_secret=SECRET),
        )

    def teardown(self) -> None:
        if hasattr(self, "both"):
            assert self.both.mine.cache.check() == []
            self.both.theirs.cache.close()
            self.both.mine.cache.close()
            self.folder.cleanup()

    @rule(value=ITEMS, name=st.sampled_from(["append", "appendleft", "count", "remove"]))
    def with_a_value(self, value: Any, name: str) -> None:
        getattr(self.both, name)(value)

    @rule(name=st.sampled_from(["pop", "popleft", "peek", "peekleft", "reverse", "clear"]))
    def without(self, name: str) -> None:
        getattr(self.both, name)()

    @rule(values=st.lists(ITEMS, max_size=3), name=st.sampled_from(["extend", "extendleft"]))
    def with_values(self, values: list[Any], name: str) -> None:
        getattr(self.both, name)(values)

    @rule(steps=st.integers(-5, 5))
    def rotate(self, steps: int) -> None:
        self.both.rotate(steps)

    @rule(maxlen=st.integers(0, 5))
    def shorten(self, maxlen: int) -> None:
        self.both.ask(lambda one: setattr(one, "maxlen", maxlen))

    @rule(place=PLACES, value=ITEMS)
    def set(self, place: int, value: Any) -> None:
        self.both.ask(lambda one: operator.setitem(one, place, value))

    @rule(place=PLACES)
    def delete(self, place: int) -> None:
        self.both.ask(lambda one: operator.delitem(one, place))

    @rule(place=PLACES)
    def get(self, place: int) -> None:
        self.both.ask(lambda one: one[place])

    @rule(other=st.lists(ITEMS, max_size=4))
    def compare(self, other: list[Any]) -> None:
        for compare in (operator.eq, operator.ne, operator.lt, operator.ge):
            self.both.ask(compare, other)

    @rule(place=PLACES)
    def add(self, place: int) -> None:
        def extend(one: Any) -> Any:
            one += [place]
            return list(one)

        self.both.ask(extend)

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "both"):
            self.both.ask(list)
            self.both.ask(lambda one: list(reversed(one)))
            self.both.ask(lambda one: (len(one), one.maxlen))


class IndexMachine(RuleBasedStateMachine):
    both: Both

    @initialize(items=st.dictionaries(ITEMS, ITEMS, max_size=4))
    def begin(self, items: dict[Any, Any]) -> None:
        self.folder = tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        cache = ours.Cache(folder / "mine", eviction_policy="none", pickle_secret=SECRET)
        self.both = Both(
            diskcache.Index(str(folder / "theirs"), items), ours.Index.fromcache(cache, items)
        )

    def teardown(self) -> None:
        if hasattr(self, "both"):
            assert self.both.mine.cache.check() == []
            self.both.theirs.cache.close()
            self.both.mine.cache.close()
            self.folder.cleanup()

    @rule(key=ITEMS, value=ITEMS)
    def set(self, key: Any, value: Any) -> None:
        self.both.ask(lambda one: operator.setitem(one, key, value))

    @rule(key=ITEMS)
    def with_a_key(self, key: Any) -> None:
        for call in (operator.getitem, operator.contains, operator.delitem):
            self.both.ask(call, key)

    @rule(key=ITEMS, default=ITEMS)
    def with_a_default(self, key: Any, default: Any) -> None:
        self.both.get(key, default)
        self.both.setdefault(key, default)
        self.both.pop(key, default)
        self.both.pop(key)

    @rule(last=st.booleans())
    def ends(self, last: bool) -> None:
        self.both.peekitem(last)
        self.both.popitem(last)

    @rule(value=ITEMS, prefix=st.sampled_from([None, "p"]), side=st.sampled_from(["front", "back"]))
    def queue(self, value: Any, prefix: Any, side: str) -> None:
        for end in (side, "back"):
            if prefix is None and self.is_taken(end):
                continue
            self.both.push(value, prefix, end)
        self.both.pull(prefix, side=side)

    def is_taken(self, side: str) -> bool:
        """Whether diskcache would give a number that is a key already, an IntegrityError there."""
        numbers = [key for key in self.both.mine if type(key) in (int, float)]
        queued = [number for number in numbers if 0 < number < 999_999_999_999_999]
        if not queued:
            return False
        return (min(queued) - 1 if side == "front" else max(queued) + 1) in numbers

    @rule(items=st.dictionaries(ITEMS, ITEMS, max_size=3))
    def update(self, items: dict[Any, Any]) -> None:
        self.both.update(items)

    @rule(items=st.dictionaries(ITEMS, ITEMS, max_size=3))
    def compare(self, items: dict[Any, Any]) -> None:
        mine = dict(self.both.mine)
        for other in (items, OrderedDict(items), mine, OrderedDict(reversed(mine.items()))):
            self.both.ask(operator.eq, other)
            self.both.ask(operator.ne, other)

    @rule()
    def clear(self) -> None:
        self.both.clear()

    @invariant()
    def agree(self) -> None:
        if hasattr(self, "both"):
            for view in ("keys", "values", "items"):
                self.both.ask(viewed, view)
            self.both.ask(lambda one: (list(one), list(reversed(one)), len(one)))


def viewed(index: Any, view: str) -> Any:
    return list(getattr(index, view)())


def iterated(one: Any, view: Callable[[Any], Any], change: Callable[[Any, Any], None]) -> Any:
    """What an iteration gives while it changes what it is of."""
    seen = []
    for item in view(one):
        seen.append(item)
        if len(seen) < 9:
            change(one, item)
    return seen


def replaced(deque: Any, item: Any) -> None:
    deque.append(deque.popleft())


def holed(deque: Any, item: Any) -> None:
    """A gap in the numbers, and more behind it."""
    if len(deque) > 2:
        del deque[1]
    deque.append(item + 10)
    deque.appendleft(item + 100)


CHANGES: list[Any] = [
    lambda deque, item: deque.append(item + 3),
    lambda deque, item: deque.appendleft(item + 3),
    lambda deque, item: deque.popleft(),
    lambda deque, item: deque.pop(),
    lambda deque, item: deque.clear(),
    replaced,
    holed,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("view", [iter, reversed])
@pytest.mark.parametrize("gap", [False, True])
def test_what_is_added_meanwhile_is_iterated_too(
    change: Any, view: Any, gap: bool, tmp_path: Path
) -> None:
    both = Both(
        diskcache.Deque([1, 2, 3, 4], str(tmp_path / "theirs")),
        ours.Deque([1, 2, 3, 4], tmp_path / "mine"),
    )
    if gap:
        both.ask(lambda one: operator.delitem(one, 1))

    def carefully(deque: Any, item: Any) -> None:
        with contextlib.suppress(IndexError):
            change(deque, item)

    both.ask(iterated, view, carefully)
    both.ask(list)
    assert both.mine.cache.check() == []


@pytest.mark.parametrize("reverse", [False, True])
def test_keys_that_are_stored_meanwhile_are_in_their_order(reverse: bool, tmp_path: Path) -> None:
    caches = diskcache.Cache(str(tmp_path / "theirs")), ours.Cache(tmp_path / "mine")
    both = Both(*caches)

    def store(cache: Any, key: Any) -> None:
        # Whoever is asked for the second key: diskcache reads a hundred at once then.
        if len(cache) > 3:
            return
        for other in (key + 0.5, key - 0.5, key + 100, -key, 5):
            cache.delete(other)
            cache[other] = 1

    for cache in caches:
        for key in (5, 1, 9):
            cache[key] = 1
    both.ask(iterated, lambda cache: cache.iterkeys(reverse), store)
    mine = both.mine

    def between(cache: Any, key: Any) -> None:
        cache[key + (-0.25 if reverse else 0.25)] = 1
        cache[key + (0.25 if reverse else -0.25)] = 1

    before = sorted(mine, reverse=reverse)
    seen = iterated(mine, lambda cache: cache.iterkeys(reverse), between)
    assert seen == sorted(set(seen), reverse=reverse) and set(before) < set(seen)


@pytest.mark.parametrize("other", ["meta", -1, 10**15, b"b"])
def test_other_keys_are_not_taken_for_items_without_a_gap(other: Any, tmp_path: Path) -> None:
    def run(deque: Any) -> Any:
        # As many as there are gaps.
        del deque[1]
        deque.cache[other] = "other"
        found = [deque[place] for place in range(-5, 5)]
        deque[-2] = "new"
        del deque[1]
        return found, list(deque), list(reversed(deque)), deque[2], deque.index("other")

    items = [1, 2, 3, 4, 5]
    both = Both(
        diskcache.Deque(items, str(tmp_path / "theirs")), ours.Deque(items, tmp_path / "mine")
    )
    both.ask(run)
    mine = both.mine.cache
    assert mine.check() == []
    mine.clear()
    mine.push(1)
    assert mine.check() == []


def test_methods_do_not_call_what_a_subclass_overrides(tmp_path: Path) -> None:
    def run(base: Any, folder: str) -> Any:
        class Loud(base):  # type: ignore[misc]
            def append(self, value: Any) -> None:
                super().append(("appended", value))

            appendleft = pop = popleft = extend = clear = None

        deque = Loud([1, 2], folder, 4)
        deque += [3]
        deque.append(4)
        deque.append(5)
        deque.rotate(1)
        deque.reverse()
        deque.maxlen = 3
        return [list(deque), list(Loud.fromcache(deque.cache, [6]))]

    theirs = run(diskcache.Deque, str(tmp_path / "theirs"))
    assert theirs[0][-1] == ("appended", 5)
    ours.use_pickle(SECRET)
    try:
        assert run(ours.Deque, str(tmp_path / "mine")) == theirs
    finally:
        ours.use_pickle(None)


for machine in (DequeMachine, IndexMachine):
    machine.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
TestDeque = DequeMachine.TestCase
TestIndex = IndexMachine.TestCase


@pytest.mark.parametrize("make", [ours.Deque, ours.Index])
def test_they_reopen_their_directory_and_can_be_pickled(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    if make is ours.Deque:
        first: Any = ours.Deque("abc", tmp_path)
    else:
        first = ours.Index(str(tmp_path), {"a": 1, "b": 2})
    again = pickle.loads(pickle.dumps(first))
    assert again == first and again.directory == first.directory == str(tmp_path)
    assert repr(again) == repr(first)
    assert again.cache.eviction_policy == "none"


def test_a_long_deque_is_indexed_and_taken_from_at_both_ends(tmp_path: Path) -> None:
    deque = ours.Deque(range(1500), tmp_path)
    assert (deque[0], deque[700], deque[-1], len(deque)) == (0, 700, 1499, 1500)
    # Holes: more of them than places that are passed one by one.
    for number in range(10, 1490):
        del deque[10]
        assert number == number
    assert list(deque) == [*range(10), *range(1490, 1500)]
    for _ in range(10):
        assert deque.popleft() < 10
    assert deque.popleft() == 1490
    assert deque.cache.check() == []


def test_an_index_gives_its_ends_after_many_deletions(tmp_path: Path) -> None:
    index: ours.Index[Any, Any] = ours.Index(
        str(tmp_path), ((number, "") for number in range(9000))
    )
    for number in range(1, 8999):
        del index[number]
    assert list(index) == [0, 8999]
    assert (index.peekitem()[0], index.peekitem(last=False)[0]) == (8999, 0)
    assert index.popitem(last=False)[0] == 0 and index.peekitem(last=False)[0] == 8999
    assert index.popitem()[0] == 8999
    with pytest.raises(KeyError):
        index.popitem()
    index["new"] = 1
    assert list(index) == ["new"]
