"""MemoryCache: a mapping within bounds."""

import copy
import gc
import inspect
import pickle
import sys
import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

import pytest
from conftest import Clock

from polycache import MISSING, EntryTooLarge, InvalidArgument, MemoryCache


def test_it_is_a_mapping() -> None:
    cache: MemoryCache[str, int] = MemoryCache(10)
    assert isinstance(cache, MutableMapping)
    cache["a"] = 1
    cache.update(b=2, c=3)
    assert (cache["a"], cache.get("b"), cache.get("x"), cache.get("x", 9)) == (1, 2, None, 9)
    assert sorted(cache) == sorted(cache.keys()) == ["a", "b", "c"]
    assert sorted(cache.items()) == [("a", 1), ("b", 2), ("c", 3)]
    assert sorted(cache.values()) == [1, 2, 3]
    assert (len(cache), cache.currsize, cache.maxsize) == (3, 3, 10)
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


def test_the_objects_themselves_or_copies() -> None:
    value = {"list": [1]}
    itself: MemoryCache[str, Any] = MemoryCache()
    itself["k"] = value
    assert itself["k"] is value
    apart: MemoryCache[str, Any] = MemoryCache(isolation="clone")
    apart["k"] = value
    value["list"].append(2)
    for read in (apart.__getitem__, apart.__getitem__, lambda k: dict(apart.items())[k]):
        read("k")["list"].append(3)
        assert apart["k"] == {"list": [1]}
    loaded = apart.get_or_set("l", lambda: value)
    loaded["list"].append(4)
    assert apart["l"] == {"list": [1, 2]}


def test_no_more_than_maxsize_is_held() -> None:
    cache: MemoryCache[int, int] = MemoryCache(50)
    for number in range(1000):
        cache[number] = number
        assert len(cache) <= 50
    assert cache[999] == 999
    assert cache.stats().evicted == 950


def test_getsizeof_says_what_counts() -> None:
    cache: MemoryCache[Any, str] = MemoryCache(10, getsizeof=len)
    cache["a"] = "x" * 6
    cache["b"] = "x" * 4
    assert (cache.currsize, len(cache), cache.getsizeof("xx")) == (10, 2, 2)
    cache["c"] = "x" * 3
    assert cache.currsize <= 10 and cache["c"] == "xxx"
    with pytest.raises(EntryTooLarge) as failure:
        cache["c"] = "x" * 11
    assert (failure.value.size, failure.value.limit) == (11, 10)
    # It changed nothing, as in cachetools.
    assert cache["c"] == "xxx"
    for size in (-1, "large", 1.5, None, 2**70):

        def says(_: object, size: Any = size) -> Any:
            return size

        wrong: MemoryCache[str, int] = MemoryCache(10, getsizeof=says)
        with pytest.raises(InvalidArgument, match="getsizeof"):
            wrong["a"] = 1
        assert len(wrong) == 0

    def fails(_: object) -> int:
        raise ZeroDivisionError

    failing: MemoryCache[str, int] = MemoryCache(10, getsizeof=fails)
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
        2, clock=clock, listener=lambda *entry: told.append(entry)
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

    cache: MemoryCache[str, int] = MemoryCache(2, listener=fail)
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
        {"maxsize": -1},
        {"maxsize": True},
        {"maxsize": 1.5},
        {"maxsize": 2**24 + 1},
        {"max_bytes": 0},
        {"max_bytes": "many"},
        {"max_bytes": 10, "getsizeof": len},
        {"getsizeof": 3},
        {"ttl": 0},
        {"ttl": -1},
        {"ttl": float("nan")},
        {"ttl": float("inf")},
        {"ttl": 2**60},
        {"time_to_idle": "soon"},
        {"policy": "lfu"},
        {"isolation": "freeze"},
        {"listener": 1},
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


def test_references_are_given_back() -> None:
    class Value:
        pass

    cache: MemoryCache[Any, Any] = MemoryCache(100)
    value, key = Value(), "a key of its own" * 3
    before = sys.getrefcount(value), sys.getrefcount(key)
    for _ in range(50):
        cache[key] = value
        cache.get(key), cache[key], cache.peek(key), key in cache, list(cache), list(cache.items())
        cache.setdefault(key, value), cache.touch(key), cache.get_or_set(key, Value)
        cache.get("no" + "thing"), cache.pop(key)
    assert (sys.getrefcount(value), sys.getrefcount(key)) == before
    cache[key] = value
    del cache
    assert (sys.getrefcount(value), sys.getrefcount(key)) == before


def test_cycles_through_the_cache_are_collected() -> None:
    class Holder:
        def __init__(self) -> None:
            self.cache: MemoryCache[Any, Any] = MemoryCache(listener=self.left)
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
