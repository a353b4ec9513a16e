"""What is refused says what to do, and is refused alike with and without a directory."""

import collections
import copy
import threading
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers import together

from polycache import (
    AsyncCache,
    Cache,
    EntryTooLarge,
    InvalidArgument,
    MemoryCache,
    UnsupportedValue,
)


class Pair(collections.namedtuple("Pair", "a b")):
    """A tuple that is more."""


@pytest.mark.parametrize(
    "value",
    [
        {(1, 2)},
        [{frozenset([1])}],
        Decimal("sNaN"),
        {"price": Decimal("sNaN")},
        datetime.min.replace(tzinfo=timezone(timedelta(hours=5))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=5))),
    ],
    ids=str,
)
def test_a_cache_without_a_path_refuses_what_one_with_a_path_does(value: Any, cache: Cache) -> None:
    with pytest.raises(UnsupportedValue) as with_a_path:
        cache.set("k", value)
    with pytest.raises(UnsupportedValue) as without:
        Cache().set("k", value)
    assert str(without.value) == str(with_a_path.value)
    assert without.value.path == with_a_path.value.path


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Pair(1, 2), "would come back as list: convert it to list"),
        (type("Frozen", (frozenset,), {})(), "would come back as set: convert it to set"),
        (collections.OrderedDict(), "would come back as dict: convert it to dict"),
    ],
)
def test_what_would_come_back_is_named(value: Any, told: str, cache: Cache) -> None:
    with pytest.raises(UnsupportedValue, match=told):
        cache.set("k", value)


class Numbers:
    """Numbers of other classes, like numpy's."""

    class Whole:
        def __init__(self, value: int) -> None:
            self.value = value

        def __index__(self) -> int:
            return self.value

        def __int__(self) -> int:
            return self.value

    class Parts:
        def __init__(self, value: float) -> None:
            self.value = value

        def __float__(self) -> float:
            return self.value


def test_numbers_of_other_classes_are_taken_as_options(cache: Cache) -> None:
    whole: Any = Numbers.Whole(5)
    parts: Any = Numbers.Parts(2.5)
    cache.set("a", 1, ttl=whole)
    assert 0 < (cache.ttl("a") or 0) <= 5
    cache.set("a", 1, ttl=parts)
    assert 0 < (cache.ttl("a") or 0) <= 2.5
    memory: MemoryCache[str, int] = MemoryCache(whole, ttl=parts)
    assert memory.max_entries == 5
    sized: MemoryCache[str, int] = MemoryCache(max_bytes=5, weigher=lambda *_: whole)
    sized["a"] = 1
    assert sized.bytes == 5
    # As values both are refused: they would come back as something else.
    for number in (whole, parts):
        with pytest.raises(UnsupportedValue, match="not in the type map"):
            cache.set("a", number)


def test_a_coroutine_is_sent_to_the_asynchronous_cache(cache: Cache) -> None:
    async def returns_one() -> int:
        return 1

    load: Any = returns_one
    for one in (cache, Cache()):
        with pytest.raises(InvalidArgument, match="AsyncCache"):
            one.get_or_set("k", load)
        coroutine = load()
        with pytest.raises(UnsupportedValue, match="AsyncCache"):
            one.set("k", coroutine)
        coroutine.close()
        assert "k" not in one


async def test_a_mere_value_is_sent_to_the_synchronous_cache(cache: Cache) -> None:
    def load(*_: Any) -> Any:
        return {"k": 1}

    memory: MemoryCache[str, Any] = MemoryCache()
    for one in (AsyncCache.over(cache), AsyncCache()):
        with pytest.raises(InvalidArgument, match="returned dict, which cannot be awaited"):
            await one.get_or_set("k", load)
        with pytest.raises(InvalidArgument, match="cannot be awaited"):
            await one.get_or_set_many(["k"], load)
        assert not await one.has("k")
    with pytest.raises(InvalidArgument, match="cannot be awaited"):
        await memory.get_or_set_async("k", load)
    with pytest.raises(InvalidArgument, match="cannot be awaited"):
        await memory.get_or_set_many_async(["k"], load)
    assert "k" not in memory


async def test_what_cannot_be_called_is_no_loader(cache: Cache) -> None:
    memory: MemoryCache[str, Any] = MemoryCache()
    none: Any = None
    asynchronous = AsyncCache.over(cache)
    for load in (cache.get_or_set, memory.get_or_set):
        with pytest.raises(InvalidArgument, match="a loader is a function, not NoneType"):
            load("k", none)
    for load_many in (cache.get_or_set_many, memory.get_or_set_many):
        with pytest.raises(InvalidArgument, match="a loader is a function"):
            load_many(["k"], none)
    with pytest.raises(InvalidArgument, match="a loader is a function"):
        await asynchronous.get_or_set("k", none)
    with pytest.raises(InvalidArgument, match="a loader is a function"):
        await asynchronous.get_or_set_many(["k"], none)


def never(keys: list[Any]) -> dict[Any, Any]:
    raise AssertionError(f"nobody may load {keys}")


@pytest.mark.parametrize("wrong", [None, 5, object()], ids=repr)
def test_what_is_no_list_of_keys(wrong: Any, cache: Cache) -> None:
    memory: MemoryCache[str, Any] = MemoryCache()
    for one in (cache, Cache(), memory):
        for act in (one.get_many, one.delete_many, partial(one.get_or_set_many, loader=never)):
            with pytest.raises(InvalidArgument, match="several keys are a list of them"):
                act(wrong)


def test_an_error_of_the_keys_own_is_handed_on(cache: Cache) -> None:
    class Keys:
        def __iter__(self) -> Any:
            raise TypeError("mine")

    keys: Any = Keys()
    with pytest.raises(TypeError, match="mine"):
        cache.get_many(keys)


def test_a_cache_that_holds_nothing_says_so() -> None:
    for max_bytes in (None, "1MiB"):
        memory: MemoryCache[str, int] = MemoryCache(0, max_bytes=max_bytes)
        with pytest.raises(EntryTooLarge, match="max_entries is 0") as failure:
            memory["k"] = 1
        assert "max_bytes" not in str(failure.value) and failure.value.limit == 0


async def test_bare_memoize_of_an_asynchronous_cache(directory: Path) -> None:
    async with AsyncCache(directory) as cache:

        @cache.memoize
        async def one() -> int:
            return 1

        assert await one() == 1 == await one()


def test_a_memoized_method_is_told_of_its_instance(cache: Cache) -> None:
    class Users:
        @cache.memoize
        def name(self, number: int) -> str:
            return f"user {number}"

    users: Any = Users()
    with pytest.raises(UnsupportedValue, match="cached_method"):
        users.name(1)


def test_a_value_that_has_no_copy() -> None:
    cache: MemoryCache[str, Any] = MemoryCache()
    lock = threading.Lock()
    for value, path in [
        (lock, "$"),
        ({"a": [1, {"b c": lock}]}, "$.a[1]['b c']"),
        (((lock,),), "$[0][0]"),
    ]:
        with pytest.raises(UnsupportedValue, match='isolation="none"') as failure:
            cache["k"] = value
        assert failure.value.path == path and "lock" in str(failure.value)
        assert isinstance(failure.value.__cause__, TypeError)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UnsupportedValue, match="nested too deeply"):
        cache["k"] = deep
    assert not cache
    # It is freed without recursion by CPython; nothing else may copy it.
    with pytest.raises(RecursionError):
        copy.deepcopy(deep)


def test_a_miss_that_others_wait_for_is_counted_once(cache: Cache) -> None:
    count = 50
    all_here = threading.Barrier(count)

    def load() -> str:
        return "loaded"

    def call() -> str:
        all_here.wait()
        return cache.get_or_set("k", load)

    assert together(*[call] * count) == ["loaded"] * count
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.writes) == (count - 1, 1, 1)


def test_a_memoized_miss_is_counted_once(cache: Cache) -> None:
    users = cache.namespace("users")

    @users.memoize(name="square")
    def square(number: int) -> int:
        return number * number

    assert [square(3), square(3)] == [9, 9]
    stats = cache.stats()
    assert (stats.hits, stats.misses) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_set("k", lambda: 1 // 0)
    assert cache.stats().misses == 2
