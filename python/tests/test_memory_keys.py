"""MemoryCache: keys of any class, and code of users that uses the cache that calls it."""

import gc
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pytest
from helpers import together
from hypothesis import given
from hypothesis import strategies as st

from polycache import EntryTooLarge, MemoryCache


class Text(str):
    pass


class Color(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: int
    y: Any


class Same:
    """All of one hash; equal by name, by code of its own, which may do something first."""

    asked = 0
    before: Callable[[], object] = staticmethod(lambda: None)

    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        Same.asked += 1
        Same.before()
        return isinstance(other, Same) and self.name == other.name


@pytest.fixture(autouse=True)
def nothing_before() -> Iterator[None]:
    Same.before = staticmethod(lambda: None)
    yield
    Same.before = staticmethod(lambda: None)


scalars = st.one_of(
    st.integers(-3, 3),
    # Of one hash with small ones.
    st.sampled_from([2**61, 2**61 - 1, 2**62, -(2**61)]),
    st.booleans(),
    st.none(),
    st.sampled_from([0.0, 1.0, 1.5, float("inf"), 1 + 0j, 10**30]),
    st.sampled_from(["", "a", "é", "red", "\ud800"]),
    st.sampled_from([b"", b"a"]),
    st.sampled_from([Decimal(1), Decimal("1.5"), Fraction(1), Fraction(3, 2)]),
    st.sampled_from(
        [Text("a"), Color.RED, uuid.UUID(int=1), date(2020, 1, 1), datetime(2020, 1, 1)]
    ),
    st.sampled_from(["x", "y"]).map(Same),
)
keys = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.tuples(inner),
        st.tuples(inner, inner),
        st.frozensets(inner, max_size=2),
        st.builds(Point, st.integers(0, 1), inner),
    ),
    max_leaves=4,
)
steps = st.lists(
    st.tuples(st.sampled_from(["set", "delete", "setdefault", "pop", "load", "get"]), keys),
    max_size=60,
)


@given(steps)
def test_keys_are_those_of_a_dict(steps: list[tuple[str, Any]]) -> None:
    cache: MemoryCache[Any, int] = MemoryCache(1000)
    plain: dict[Any, int] = {}
    for number, (step, key) in enumerate(steps):
        match step:
            case "set":
                cache[key] = plain[key] = number
            case "delete":
                assert cache.delete(key) == (plain.pop(key, None) is not None)
            case "setdefault":
                assert cache.setdefault(key, number) == plain.setdefault(key, number)
            case "pop":
                assert cache.pop(key, -1) == plain.pop(key, -1)
            case "load":
                value = cache.get_or_set(key, lambda number=number: number)  # type: ignore[misc]
                assert value == plain.setdefault(key, number)
        assert cache.get(key) == cache.peek(key) == plain.get(key)
        assert (key in cache) == (key in plain) == cache.touch(key)
    assert len(cache) == len(plain) and dict(cache.items()) == plain


def test_equal_keys_that_are_other_objects() -> None:
    def made() -> list[Any]:
        texts = ["a" * 100, "\u00e9" * 9, "\u4e2d" * 9, "\U0001f600" * 9, "\ud800" * 9]
        numbers = [10**6, -(10**6), 2**61, 2**61 - 1 + 10**6, 10**40]
        # Made anew by each call.
        return ["".join(list(text)) for text in texts] + [int(str(number)) for number in numbers]

    cache: MemoryCache[Any, int] = MemoryCache()
    for number, key in enumerate(made()):
        assert key not in cache
        cache[key] = -1
        cache[key] = number
    for again in range(2):
        for number, key in enumerate(made()):
            assert (cache[key], cache.get(key)) == (number + again, number + again)
            cache[key] = number + again + 1
    assert len(cache) == len(made())


def test_many_keys_of_one_hash() -> None:
    cache: MemoryCache[Same, int] = MemoryCache(300)
    for number in range(200):
        cache[Same(str(number))] = number
    assert [cache[Same(str(number))] for number in range(200)] == list(range(200))
    assert len(cache) == 200


def test_what_can_be_told_without_asking_is() -> None:
    cache: MemoryCache[Any, int] = MemoryCache()
    key = Same("a")
    cache[key] = 1
    Same.asked = 0
    assert cache[key] == 1
    del cache[key]
    assert Same.asked == 0


def test_what_eq_and_hash_raise_is_the_caller_s() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    cache: MemoryCache[Any, Any] = MemoryCache()
    cache[Same("a")] = 1
    Same.before = staticmethod(fail)
    other = Same("b")
    for call in (
        lambda: cache[other],
        lambda: cache.set(other, 2),
        lambda: cache.delete(other),
        lambda: cache.get_or_set(other, lambda: 2),
        lambda: other in cache,
    ):
        with pytest.raises(ZeroDivisionError):
            call()
    Same.before = staticmethod(lambda: None)
    assert (len(cache), cache[Same("a")]) == (1, 1)

    class NoHash:
        def __hash__(self) -> int:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.get(NoHash())


@pytest.mark.parametrize(
    "change",
    [
        lambda cache: cache.clear(),
        lambda cache: cache.pop("other", None),
        lambda cache: cache.__setitem__("other", 1),
        lambda cache: cache.set(7, 1),
        lambda cache: gc.collect(0),
        lambda cache: list(cache.items()),
    ],
)
def test_eq_may_use_the_cache(change: Callable[[MemoryCache[Any, Any]], Any]) -> None:
    cache: MemoryCache[Any, Any] = MemoryCache(4)
    depth = 0

    def use() -> None:
        nonlocal depth
        if depth < 3:
            depth += 1
            change(cache)
            # Asks again, of another key of the hash.
            cache.get(Same("third"))
            depth -= 1

    for _ in range(3):
        Same.before = staticmethod(lambda: None)
        cache[Same("a")] = 1
        Same.before = staticmethod(use)
        cache.get(Same("a"))
        cache[Same("b")] = 2
        # What it changes may be this very key.
        assert cache.get(Same("b")) in (2, None)
        cache.delete(Same("a"))
        cache.get_or_set(Same("c"), lambda: 3)
        cache.setdefault(Same("d"), 4)
    Same.before = staticmethod(lambda: None)
    names = [key.name for key in cache if isinstance(key, Same)]
    assert len(names) == len(set(names))


def test_eq_that_deletes_the_key_that_it_is_asked_about() -> None:
    cache: MemoryCache[Any, Any] = MemoryCache()
    stored = Same("a")
    cache[stored] = 1
    Same.before = staticmethod(lambda: cache.delete(stored))
    assert cache.get(Same("a")) is None
    cache[stored] = 1
    cache[Same("a")] = 2
    Same.before = staticmethod(lambda: None)
    assert list(cache.values()) == [2]


def test_del_may_use_the_cache() -> None:
    cache: MemoryCache[Any, Any] = MemoryCache(3, isolation="none")
    gone: list[int] = []

    class Value:
        def __init__(self, number: int) -> None:
            self.number = number

        def __del__(self) -> None:
            gone.append(self.number)
            if self.number >= 0:
                cache[self.number % 5] = Value(-1)
                cache.get(self.number)
                cache.pop(1, None)
                cache.delete(Same("k"))

    for number in range(300):
        cache[number % 7] = Value(number)
        cache[Same("k")] = Value(number + 1000)
        cache.delete(number % 3)
        if number % 50 == 0:
            cache.clear()
    cache.clear()
    cache.clear()
    assert len(gone) > 300 and len(cache) <= 3


def test_weigher_loader_listener_and_clock_may_use_the_cache() -> None:
    depth = 0

    def use(*_: object) -> int:
        nonlocal depth
        if depth < 2 and cache is not None:
            depth += 1
            cache[Same("x")] = 1
            cache.get(Same("y"))
            cache.pop("b", None)
            cache.get_or_set("of its own", lambda: 1)
            depth -= 1
        return 1

    cache: MemoryCache[Any, Any] | None = None
    cache = MemoryCache(5, max_bytes=5, weigher=use, removal_listener=use, clock=use)
    for number in range(100):
        cache[number] = number
        cache["b"] = number
        assert cache.get_or_set(("l", number), use) == 1
    assert cache.bytes <= 5 and len(cache) <= 5

    def too_large(*_: object) -> int:
        return 9

    small: MemoryCache[Any, Any] = MemoryCache(max_bytes=5, weigher=too_large)
    with pytest.raises(EntryTooLarge):
        small[Same("x")] = 1


def test_threads_with_all_of_that_at_once() -> None:
    class Value:
        def __init__(self, key: Any) -> None:
            self.key = key

        def __del__(self) -> None:
            cache.get(Same("a"))

    def told(key: Any, value: Value, _: str) -> None:
        assert key == value.key
        cache.peek(key)

    cache: MemoryCache[Any, Value] = MemoryCache(20, removal_listener=told, isolation="none")
    # Lets other threads run in the middle.
    Same.before = staticmethod(lambda: [None for _ in range(20)])

    def work(seed: int) -> None:
        for number in range(1500):
            place = (number * 7 + seed) % 31
            key: Any = Same(str(place % 6)) if place % 2 else place
            match number % 5:
                case 0:
                    cache[key] = Value(key)
                case 1:
                    cache.pop(key, None)
                case 2:
                    assert cache.get_or_set(key, lambda key=key: Value(key)).key == key  # type: ignore[misc]
                case 3 if number % 50 == 3:
                    cache.clear()
                case _:
                    found = cache.get(key)
                    assert found is None or found.key == key

    together(*[lambda seed=seed: work(seed) for seed in range(4)])
    names = [key.name for key in cache if isinstance(key, Same)]
    assert len(names) == len(set(names)) and len(cache) <= 20
    cache.clear()
