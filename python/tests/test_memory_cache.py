"""MemoryCache: a mapping within bounds."""

import copy
import gc
import inspect
import math
import pickle
import sys
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

import pytest
from conftest import Clock
from helpers import together

from polycache import (
    MISSING,
    EntryTooLarge,
    InvalidArgument,
    MemoryCache,
    MemoryEntry,
    WrongType,
)


def test_it_is_a_mapping() -> None:
    cache: MemoryCache[str, int] = MemoryCache(10)
    assert isinstance(cache, MutableMapping)
    cache["a"] = 1
    cache.update(b=2, c=3)
    assert (cache["a"], cache.get("b"), cache.get("x"), cache.get("x", 9)) == (1, 2, None, 9)
    assert sorted(cache) == sorted(cache.keys()) == ["a", "b", "c"]
    assert sorted(cache.items()) == [("a", 1), ("b", 2), ("c", 3)]
    assert sorted(cache.values()) == [1, 2, 3]
    assert (len(cache), cache.bytes, cache.max_entries, cache.max_bytes) == (3, 0, 10, None)
    assert "a" in cache and "x" not in cache
    assert ("a", 1) in cache.items() and ("a", 2) not in cache.items() and 3 in cache.values()
    assert cache == {"a": 1, "b": 2, "c": 3}
    assert cache.setdefault("a", 7) == 1 and cache.setdefault("d", 7) == 7
    del cache["d"]
    assert cache.pop("a") == 1 and cache.pop("a", 5) == 5
    with pytest.raises(KeyError, match="'a'"):
        cache.pop("a")
    assert {cache.popitem(), cache.popitem()} == {("b", 2), ("c", 3)}
    for lacking in (lambda: cache["a"], lambda: cache.__delitem__("a"), cache.popitem):
        with pytest.raises(KeyError):
            lacking()
    assert not cache
    assert repr(cache) == "<polycache.MemoryCache 0 of 10>"


def test_none_is_a_value_and_a_tuple_a_key() -> None:
    cache: MemoryCache[Any, Any] = MemoryCache()
    cache[1, "a"] = None
    assert cache.get((1, "a"), MISSING) is None
    assert cache.has((1, "a"))
    with pytest.raises(KeyError) as failure:
        cache[1, 2]
    assert failure.value.args == ((1, 2),)
    with pytest.raises(TypeError, match="unhashable"):
        cache[[]] = 1


def test_missing_is_asked_for_what_is_not_there() -> None:
    class Squares(MemoryCache[int, int]):
        def __missing__(self, key: int) -> int:
            self[key] = key * key
            return self[key]

    squares = Squares(10)
    assert squares[3] == 9 and squares.get(4) is None and list(squares) == [3]


def test_no_more_than_max_entries_are_held() -> None:
    cache: MemoryCache[int, int] = MemoryCache(50)
    for number in range(1000):
        cache[number] = number
        assert len(cache) <= 50
    assert cache[999] == 999
    assert cache.stats().evicted == 950


def test_a_weigher_says_what_counts() -> None:
    def letters(key: str, value: str) -> int:
        return len(key) + len(value)

    cache: MemoryCache[str, str] = MemoryCache(100, max_bytes=12, weigher=letters)
    cache["a"] = "x" * 6
    cache["b"] = "x" * 4
    assert (cache.bytes, cache.stats().bytes, len(cache)) == (12, 12, 2)
    assert cache.entry("b") == MemoryEntry("b", "xxxx", float("inf"), 5)
    cache["c"] = "x" * 3
    assert cache.bytes <= 12 and cache["c"] == "xxx"
    with pytest.raises(EntryTooLarge) as failure:
        cache["c"] = "x" * 12
    assert (failure.value.size, failure.value.limit) == (13, 12)
    # It changed nothing.
    assert cache["c"] == "xxx"
    for size in (-1, "large", 1.5, None, 2**63, 2**70):

        def says(*_: object, size: Any = size) -> Any:
            return size

        wrong: MemoryCache[str, int] = MemoryCache(max_bytes=10, weigher=says)
        with pytest.raises(InvalidArgument, match="weigher"):
            wrong["a"] = 1
        assert len(wrong) == 0

    def fails(*_: object) -> int:
        raise ZeroDivisionError

    failing: MemoryCache[str, int] = MemoryCache(max_bytes=10, weigher=fails)
    with pytest.raises(ZeroDivisionError):
        failing["a"] = 1


def test_bytes_are_bounded() -> None:
    cache: MemoryCache[str, Any] = MemoryCache(1000, max_bytes="64KiB")
    assert cache.max_bytes == 65536
    for number in range(100):
        cache[str(number)] = [b"x" * 1000, {"k": "y" * 1000}]
        assert cache.stats().bytes <= 65536
    assert 20 <= len(cache) <= 30
    cache["99"] = 1
    with pytest.raises(EntryTooLarge):
        cache["99"] = ["x" * 70_000]
    assert cache["99"] == 1


def test_times_to_live(clock: Clock) -> None:
    cache: MemoryCache[str, int] = MemoryCache(ttl="10s", clock=clock)
    cache["a"] = 1
    cache.set("b", 2, ttl=1)
    cache.set("c", 3, ttl=None)
    assert (cache.ttl("a"), cache.ttl("b"), cache.ttl("c")) == (10, 1, float("inf"))
    assert cache.ttl("x") is None
    clock.now += 1000
    assert "b" not in cache and cache.get("b") is None and sorted(cache) == ["a", "c"]
    assert cache.touch("a") and not cache.touch("b")
    clock.now += 9999
    assert cache["a"] == 1 and cache.touch("a", ttl=None) and cache.ttl("a") == float("inf")
    cache.set("d", 4, ttl=0.001)
    clock.now += 1
    cache.purge_expired()
    assert len(cache) == 2 and cache.stats().expired == 2


def test_times_to_idle(clock: Clock) -> None:
    cache: MemoryCache[str, int] = MemoryCache(time_to_idle="1s", clock=clock)
    cache.set_many({"read": 1, "peeked": 2})
    for _ in range(3):
        clock.now += 600
        cache.get("read")
        cache.peek("peeked")
    assert list(cache) == ["read"]


def test_the_listener_is_told_what_left(clock: Clock) -> None:
    told: list[tuple[Any, Any, str]] = []
    cache: MemoryCache[str, int] = MemoryCache(
        2, clock=clock, removal_listener=lambda *entry: told.append(entry)
    )
    cache["a"] = 1
    cache["a"] = 2
    cache.delete("a")
    cache.set("b", 3, ttl=1)
    clock.now += 1000
    cache.purge_expired()
    cache["c"] = 4
    cache.clear()
    assert [entry for entry in told if entry[2] != "replaced"] == [
        ("a", 2, "deleted"),
        ("b", 3, "expired"),
        ("c", 4, "cleared"),
    ]
    assert told[0] == ("a", 1, "replaced")
    for number in range(3):
        cache[str(number)] = number
    assert told[-1][2] == "evicted"


def test_what_a_listener_raises_has_no_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", failures.append)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    cache: MemoryCache[str, int] = MemoryCache(2, removal_listener=fail)
    cache["a"] = 1
    assert cache.delete("a")
    assert [failure.exc_type for failure in failures] == [ZeroDivisionError]


def test_several_at_once() -> None:
    cache: MemoryCache[str, int] = MemoryCache()
    cache.set_many({"a": 1, "b": 2}, ttl="1h")
    assert cache.get_many(["b", "x", "a"]) == {"b": 2, "a": 1}
    assert cache.delete_many(["a", "x"]) == 1
    for wrong in (lambda: cache.get_many("ab"), lambda: cache.set_many([("a", 1)])):  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument):
            wrong()


def test_a_key_is_taken_once() -> None:
    cache: MemoryCache[str, list[int]] = MemoryCache()
    cache["a"] = [1]
    assert cache.take("a") == [1] and cache.take("a") is None and cache.take("a", []) == []
    cache["n"] = [2]
    assert together(*[lambda: cache.take("n", MISSING)] * 8).count(MISSING) == 7
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.deletes) == (2, 9, 2)


def test_an_entry_is_told_without_being_used(clock: Clock) -> None:
    cache: MemoryCache[str, Any] = MemoryCache(clock=clock, ttl="10s", max_bytes="1MiB")
    cache["a"] = "text"
    clock.now += 1000
    entry = cache.entry("a")
    assert entry is not None and (entry.key, entry.value, entry.ttl) == ("a", "text", 9)
    assert entry.bytes == cache.bytes > 4
    clock.now += 9000
    assert cache.entry("a") is None
    assert (cache.stats().hits, cache.stats().misses) == (0, 0)
    idle: MemoryCache[str, int] = MemoryCache(clock=clock, time_to_idle="10s")
    idle["a"] = 1
    for _ in range(2):
        clock.now += 5000
        entry = idle.entry("a")
        assert entry is None or (entry.ttl, entry.bytes) == (5, 0)
    assert "a" not in idle


def test_counting(clock: Clock) -> None:
    told: list[Any] = []
    cache: MemoryCache[str, Any] = MemoryCache(
        clock=clock, ttl="10s", removal_listener=lambda *entry: told.append(entry)
    )
    assert (cache.increment("n"), cache.increment("n", 5), cache.decrement("n", 2)) == (1, 6, 4)
    assert told == [("n", 1, "replaced"), ("n", 6, "replaced")]
    clock.now += 4000
    assert cache.increment("n", 0.5) == 4.5 == cache["n"]
    # It keeps its time to live.
    assert cache.ttl("n") == 6
    clock.now += 6000
    assert cache.decrement("n") == -1 and cache.ttl("n") == 10
    cache["huge"] = 10**400
    cache["text"] = "1"
    cache["bool"] = True
    cache["nan"] = math.nan
    for key in ("text", "bool", "nan"):
        with pytest.raises(WrongType) as told_so:
            cache.increment(key)
        assert told_so.value.path == "$"
    cache["most"] = sys.float_info.max
    wrong: list[Callable[[], object]] = [
        lambda: cache.increment("n", "1"),  # type: ignore[arg-type]
        lambda: cache.increment("n", float("nan")),
        lambda: cache.decrement("n", True),
        lambda: cache.increment("huge", 0.5),
        lambda: cache.increment("most", sys.float_info.max),
    ]
    for call in wrong:
        with pytest.raises(InvalidArgument):
            call()
    assert (cache["n"], cache["text"], cache["bool"]) == (-1, "1", True)
    assert cache["most"] == sys.float_info.max


def test_no_addition_is_lost() -> None:
    cache: MemoryCache[str, int] = MemoryCache(10, max_bytes=1000, weigher=lambda *_: 1)

    def add() -> None:
        for _ in range(2000):
            cache.increment("n")

    together(*[add] * 4)
    assert cache["n"] == 8000


def test_what_is_counted() -> None:
    cache: MemoryCache[str, int] = MemoryCache()
    cache["a"] = 1
    cache["a"], cache.get("x"), cache.peek("a"), "a" in cache
    cache.delete("a")
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.writes, stats.deletes) == (1, 1, 1, 1)
    assert (stats.entries, stats.bytes) == (0, 0)


@pytest.mark.parametrize(
    "options",
    [
        {"max_entries": -1},
        {"max_entries": True},
        {"max_entries": 1.5},
        {"max_entries": 2**24 + 1},
        {"max_bytes": 0},
        {"max_bytes": "many"},
        {"weigher": 3, "max_bytes": 10},
        {"weigher": lambda key, value: 1},
        {"getsizeof": len},
        {"maxsize": 10},
        {"ttl": 0},
        {"ttl": -1},
        {"ttl": float("nan")},
        {"ttl": float("inf")},
        {"ttl": 2**60},
        {"time_to_idle": "soon"},
        {"policy": "lfu"},
        {"isolation": "freeze"},
        {"removal_listener": 1},
        {"listener": print},
        {"clock": 1},
        {"size": 1},
    ],
)
def test_options_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        MemoryCache(**options)


def test_a_refused_ttl_changes_nothing() -> None:
    cache: MemoryCache[str, int] = MemoryCache()
    cache["a"] = 1
    for ttl in (0, -1, float("nan"), "soon", 2**60):
        with pytest.raises(InvalidArgument):
            cache.set("a", 2, ttl=ttl)
        with pytest.raises(InvalidArgument):
            cache.get_or_set("a", lambda: 2, ttl=ttl)
    assert cache["a"] == 1


def test_it_is_one_process_memory() -> None:
    cache: MemoryCache[str, int] = MemoryCache()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            copied(cache)


def test_iterating_while_it_changes() -> None:
    cache: MemoryCache[int, int] = MemoryCache(1000)
    cache.update({number: number for number in range(100)})
    for key in cache:
        del cache[key]
        cache[key + 1000] = key
    for key, value in cache.items():
        cache.clear()
        assert key == value + 1000


@pytest.mark.parametrize("isolation", ["none", "clone"])
def test_references_are_given_back(isolation: Any) -> None:
    class Value:
        pass

    cache: MemoryCache[Any, Any] = MemoryCache(100, isolation=isolation)
    value, key = Value(), "a key of its own" * 3
    before = sys.getrefcount(value), sys.getrefcount(key)
    for _ in range(50):
        cache[key] = value
        cache.get(key), cache[key], cache.peek(key), key in cache, list(cache), list(cache.items())
        cache.setdefault(key, value), cache.touch(key), cache.get_or_set(key, Value)
        cache.get("no" + "thing"), cache.entry(key), cache.get_or_set_many([key], dict)
        cache.take(key), cache.setdefault(key, value), cache.pop(key)
    assert (sys.getrefcount(value), sys.getrefcount(key)) == before
    cache[key] = value
    del cache
    assert (sys.getrefcount(value), sys.getrefcount(key)) == before


def test_cycles_through_the_cache_are_collected() -> None:
    class Holder:
        def __init__(self) -> None:
            self.cache: MemoryCache[Any, Any] = MemoryCache(
                removal_listener=self.left, isolation="none"
            )
            self.cache["self"] = self
            self.cache[Holder] = [self.cache]

        def left(self, *_: object) -> None:
            pass

    gone = weakref.ref(Holder())
    gc.collect()
    assert gone() is None


def test_quick_methods_know_all_ways_to_give_arguments() -> None:
    cache: MemoryCache[str, int] = MemoryCache(10)
    cache.set("a", 1)
    cache.set(key="b", value=2)
    cache.set("c", value=3, ttl=60)
    assert [cache.get("a"), cache["b"], cache.get("c", 0)] == [1, 2, 3]
    assert cache.ttl("c") is not None and cache.ttl("c") != cache.ttl("a")
    wrong: list[Callable[[Any], object]] = [
        lambda cache: cache.get(),
        lambda cache: cache.get("a", 1, 2),
        lambda cache: cache.set("a"),
        lambda cache: cache.set("a", 1, 2),
        lambda cache: cache.set("a", 1, size=2),
        lambda cache: cache.set([], 1),
        lambda cache: MemoryCache.get(5, "a"),  # type: ignore[call-overload]
    ]
    for call in wrong:
        with pytest.raises(TypeError):
            call(cache)
    assert dict(cache) == {"a": 1, "b": 2, "c": 3}
    assert list(inspect.signature(MemoryCache.set).parameters) == ["self", "key", "value", "ttl"]
    assert list(inspect.signature(MemoryCache.get).parameters) == ["self", "key", "default"]
