"""What users of cachetools rely on, after changing the import."""

import math
import pickle
import threading
from typing import Any

import pytest
from helpers import together

from polycache import EntryTooLarge, InvalidArgument, MemoryCache
from polycache import cached as polycached
from polycache.cachetools import Cache, LRUCache, TLRUCache, TTLCache, cached, cachedmethod, keys


class Timer:
    def __init__(self) -> None:
        self.now: float = 0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("kind", [Cache, LRUCache])
def test_a_cache_is_a_mapping_within_a_bound(kind: type[Cache[Any, Any]]) -> None:
    cache = kind(maxsize=2)
    assert (len(cache), cache.maxsize, cache.currsize, cache.getsizeof("")) == (0, 2, 0, 1)
    cache.update({1: 1, 2: 2})
    cache[3] = 3
    assert len(cache) == 2 == cache.currsize and cache[3] == 3
    assert cache.pop(3) == 3 and cache.pop(3, None) is None
    with pytest.raises(KeyError):
        cache.pop(3)
    assert cache.setdefault(4, 5) == 5 == cache.setdefault(4, 6)
    cache.clear()
    value = [1]
    cache["itself"] = value
    assert cache["itself"] is value
    cache.clear()
    with pytest.raises(KeyError) as failure:
        cache.popitem()
    assert failure.value.__suppress_context__
    assert kind(maxsize=math.inf).maxsize is None
    assert repr(cache) == f"{kind.__name__}(maxsize=2, currsize=0)"


def test_what_is_too_large_is_a_value_error_and_changes_nothing() -> None:
    cache: Cache[int, int] = Cache(maxsize=3, getsizeof=lambda value: value)
    cache[1] = 2
    with pytest.raises(ValueError) as failure:
        cache[1] = 4
    assert isinstance(failure.value, EntryTooLarge)
    assert (cache[1], cache.currsize) == (2, 2)
    with pytest.raises(ValueError):
        cache.setdefault(2, 4)
    none: Cache[int, int] = Cache(maxsize=0)
    with pytest.raises(ValueError):
        none[1] = 1
    assert len(none) == 0 == none.maxsize


@pytest.mark.parametrize("size", [-1, "large", 1.5, None, 2**63, 2**70])
def test_a_size_is_a_whole_number(size: Any) -> None:
    cache: Cache[str, int] = Cache(10, getsizeof=lambda _: size)
    with pytest.raises(InvalidArgument, match="getsizeof"):
        cache["a"] = 1
    assert len(cache) == 0


@pytest.mark.parametrize("maxsize", [-1, "large", 1.5, True, 2**24 + 1])
def test_a_maxsize_out_of_range(maxsize: Any) -> None:
    with pytest.raises(InvalidArgument, match="maxsize"):
        Cache(maxsize)


def test_getsizeof_of_a_subclass_counts() -> None:
    class Sized(Cache[Any, str]):
        def getsizeof(self, value: str) -> int:
            return len(value) + super().getsizeof(value)

    cache = Sized(10)
    cache["a"] = "xxx"
    cache["b"] = "xx"
    assert (cache.currsize, cache.getsizeof("")) == (7, 1)
    with pytest.raises(EntryTooLarge):
        cache["c"] = "x" * 10
    # An option comes first, as in cachetools.
    given = Sized(10, getsizeof=len)
    given["a"] = "xx"
    assert given.currsize == 2


def test_entries_live_as_long_as_the_timer_says() -> None:
    timer = Timer()
    cache: TTLCache[int, int] = TTLCache(maxsize=3, ttl=2, timer=timer)
    assert cache.ttl == 2 and cache.timer is timer
    cache[1] = 1
    timer.now = 1
    cache[2] = 2
    timer.now = 2
    assert (1 in cache, 2 in cache, len(cache), list(cache)) == (False, True, 1, [2])
    assert cache.currsize == 1 and cache.get(1) is None
    with pytest.raises(KeyError):
        cache[1]
    cache[3] = 3
    assert sorted(cache.expire(3)) == [(2, 2)]
    timer.now = 9
    assert cache.expire() == [(3, 3)] and cache.expire() == []
    assert TTLCache(1, ttl=math.inf).ttl == math.inf
    assert (cache.maxsize, cache.getsizeof(7)) == (3, 1)
    over: TTLCache[int, int] = TTLCache(1, ttl=0)
    over[1] = 1
    assert len(over) == 0


def test_a_value_says_how_long_it_lives() -> None:
    timer = Timer()
    cache: TLRUCache[int, int] = TLRUCache(9, ttu=lambda _, value, now: now + value, timer=timer)
    cache.update({1: 1, 2: 2, 0: 0, 9: math.inf})  # type: ignore[dict-item]
    assert sorted(cache) == [1, 2, 9]
    timer.now = 1
    assert sorted(cache) == [2, 9] and len(cache) == 2
    assert cache.ttu(1, 2, 3) == 5


def test_a_lifetime_by_key_and_value() -> None:
    timer = Timer()
    cache: MemoryCache[str, float | None] = MemoryCache(
        ttl=lambda key, value: value, clock=lambda: timer.now * 1000
    )
    cache.set_many({"a": 1, "b": None, "c": 0, "d": 5})
    cache.set("e", 1, ttl=9)
    assert cache.get_or_set("f", lambda: 2) == 2
    assert cache.setdefault("g", -1) == -1
    assert sorted(cache) == ["a", "b", "d", "e", "f"]
    timer.now = 2
    assert sorted(cache) == ["b", "d", "e"]
    # What is superseded is gone.
    cache["d"] = 0
    assert "d" not in cache
    text: MemoryCache[str, int] = MemoryCache(ttl=lambda *_: "5m")
    text["a"] = 1
    assert text.ttl("a") == 300


def test_a_length_does_not_count_what_is_over() -> None:
    timer = Timer()
    left: list[tuple[Any, Any, str]] = []
    cache: MemoryCache[int, int] = MemoryCache(
        5000, clock=lambda: timer.now * 1000, removal_listener=lambda *entry: left.append(entry)
    )
    for number in range(2000):
        cache.set(number, number, ttl=1 + number)
    for now in (0, 1, 2, 500, 1999):
        timer.now = now
        assert len(cache) == 2000 - now == len(list(cache))
        assert cache.stats().entries == 2000 - now
        assert len(left) == now
    idle: MemoryCache[int, int] = MemoryCache(time_to_idle=2, clock=lambda: timer.now * 1000)
    idle[1] = idle[2] = 1
    timer.now += 1
    assert idle[1] == 1
    timer.now += 1
    assert len(idle) == 1


def test_a_function_whose_result_is_too_large() -> None:
    calls: list[int] = []

    @polycached(Cache(1, getsizeof=len))
    def letters(number: int) -> str:
        calls.append(number)
        return "x" * number

    assert [letters(1), letters(1), letters(2), letters(2)] == ["x", "x", "xx", "xx"]
    assert calls == [1, 2, 2]


@pytest.mark.parametrize("cache", [LRUCache(maxsize=2), {}, None], ids=["ours", "dict", "none"])
def test_the_decorator(cache: Any) -> None:
    calls: list[Any] = []

    @cached(cache, info=True)
    def function(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return args

    assert function(1) == function(1) == (1,)
    assert function(2, a=3) == (2,)
    hits = 0 if cache is None else 1
    assert function.cache_info()[:2] == (hits, 3 - hits) and len(calls) == 3 - hits  # type: ignore[attr-defined]
    assert cache is None or keys.hashkey(1) in cache
    function.cache_clear()  # type: ignore[attr-defined]
    assert function.cache_info()[:2] == (0, 0) and not cache  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["lock", "condition"])
def test_other_mappings_are_guarded(kind: str) -> None:
    held = threading.Condition() if kind == "condition" else threading.RLock()
    results: dict[Any, int] = {}
    calls: list[int] = []

    @cached(results, **{kind: held})  # type: ignore[arg-type]
    def square(number: int) -> int:
        calls.append(number)
        return number * number

    work = [lambda: [square(number) for number in range(50)]] * 4
    assert together(*work) == [[number * number for number in range(50)]] * 4
    assert len(results) == 50
    if kind == "condition":
        assert sorted(calls) == list(range(50))
    assert square.cache_lock is held  # type: ignore[attr-defined]

    @cached(results, **{kind: held})
    def fails(number: int) -> int:
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fails(100)


def test_methods() -> None:
    class Squares:
        def __init__(self) -> None:
            self.cache: LRUCache[Any, int] = LRUCache(maxsize=9)
            self.calls = 0

        @cachedmethod(lambda self: self.cache, info=True)
        def square(self, number: int) -> int:
            """Squares."""
            self.calls += 1
            return number * number

    one, other = Squares(), Squares()
    assert one.square(3) == one.square(3) == 9 == other.square(3)
    assert (one.calls, other.calls) == (1, 1) and one.square.__doc__ == "Squares."
    assert one.square.cache is one.cache and keys.hashkey(3) in one.cache
    assert one.square.cache_info() == (1, 1, 9, 1)
    one.square.cache_clear()
    assert not one.cache and other.cache


def test_keys() -> None:
    assert keys.hashkey(1, a=2, b=3) == keys.hashkey(1, b=3, a=2) != keys.hashkey(1, "a", 2)
    assert keys.hashkey(1) == keys.hashkey(1.0) and keys.typedkey(1) != keys.typedkey(1.0)
    assert keys.methodkey("self", 1) == keys.hashkey(1)
    assert keys.typedmethodkey("self", 1) == keys.typedkey(1) != keys.typedkey(True)
    assert keys.typedkey(a=1) != keys.typedkey(a=1.0)
    for key in (keys.hashkey(1, a="text"), keys.typedkey("text", b=2)):
        again = pickle.loads(pickle.dumps(key))
        assert again == key and hash(again) == hash(key)
    with pytest.raises(TypeError):
        hash(keys.hashkey([]))
