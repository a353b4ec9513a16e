"""`cached` and `cached_method`: functions and methods memoized in memory."""

import asyncio
import functools
import gc
import inspect
import weakref
from typing import Any, assert_type

import pytest
from helpers import together

from polycache import Cache, InvalidArgument, MemoryCache, cached, cached_method
from polycache.functools import lru_cache

calls: list[Any] = []


@pytest.fixture(autouse=True)
def no_calls() -> None:
    calls.clear()


def area(width: int, height: int = 2, *, unit: str = "m") -> str:
    """How large it is."""
    calls.append((width, height, unit))
    return f"{width * height} {unit}²"


def test_a_function_runs_once_for_its_arguments() -> None:
    memoized = cached(100)(area)
    assert_type(memoized(2), str)
    for _ in range(2):
        assert memoized(2) == memoized(2, 2) == memoized(width=2, unit="m", height=2) == "4 m²"
    assert memoized(2, 3) == "6 m²"
    assert calls == [(2, 2, "m"), (2, 3, "m")]
    assert memoized.forget(height=2, width=2) and not memoized.forget(2)
    memoized(2)
    assert len(calls) == 3
    memoized.forget_all()
    assert len(memoized.cache) == 0


def test_the_signature_is_kept() -> None:
    memoized = cached()(area)
    assert inspect.signature(memoized) == inspect.signature(area)
    assert (memoized.__name__, memoized.__doc__) == ("area", area.__doc__)  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        memoized()  # type: ignore[call-arg]


def test_arguments_are_told_apart_by_their_type() -> None:
    @cached()
    def same(value: Any, *more: Any, **named: Any) -> Any:
        calls.append(value)
        return value

    for value in (1, 1.0, True, "1", b"1", None, (1,)):
        assert type(same(value)) is type(same(value)) is type(value)
    assert len(calls) == 7
    assert same(1, 2, a=3, b=4) == same(1, 2, a=3, b=4) == 1
    assert len(calls) == 8
    same(1, a=True)
    same(1, a=1)
    assert len(calls) == 10
    with pytest.raises(TypeError, match="unhashable"):
        same([])


def test_functions_may_share_a_cache() -> None:
    cache: MemoryCache[Any, Any] = MemoryCache(100)

    @cached(cache, ttl="1h")
    def double(number: int) -> int:
        return 2 * number

    @cache.memoize()
    def triple(number: int) -> int:
        return 3 * number

    assert (double(2), triple(2)) == (4, 6)
    cache["k"] = 1
    double.forget_all()
    assert len(cache) == 2 and cache["k"] == 1 and double.cache is cache


async def test_an_asynchronous_function() -> None:
    @cached(100)
    async def load(number: int) -> list[int]:
        calls.append(number)
        await asyncio.sleep(0)
        return [number]

    assert inspect.iscoroutinefunction(load)
    results = await asyncio.gather(*[load(1) for _ in range(10)])
    assert_type(results, list[list[int]])
    assert results == [[1]] * 10 and calls == [1]
    assert load.forget(1)


def test_of_many_threads_one_runs_it() -> None:
    memoized = cached()(area)
    together(*[lambda: memoized(7)] * 8)
    assert len(calls) == 1


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    # Not hashable.
    def __eq__(self, other: object) -> bool:
        raise AssertionError

    @cached_method(10)
    def price(self, item: str, tax: float = 0.2) -> str:
        """What it costs."""
        calls.append((self.name, item))
        return f"{self.name} {item} {tax}"

    @cached_method()
    async def load(self, item: str) -> str:
        calls.append((self.name, item))
        await asyncio.sleep(0)
        return item

    @classmethod
    @cached(10)
    def open(cls, name: str) -> str:
        calls.append((cls, name))
        return name

    @staticmethod
    @cached(10)
    def currency(country: str) -> str:
        calls.append(country)
        return country


class Other(Shop):
    pass


def test_methods_have_a_cache_an_instance() -> None:
    one, two = Shop("one"), Shop("two")
    assert_type(one.price("a"), str)
    for _ in range(2):
        assert one.price("a") == one.price(item="a", tax=0.2) == "one a 0.2"
        assert two.price("a") == "two a 0.2"
    assert calls == [("one", "a"), ("two", "a")]
    assert one.price.forget("a") and not one.price.forget("a")
    assert len(two.price.cache) == 1 and two.price.cache.max_entries == 10
    assert str(inspect.signature(one.price)) == "(item: str, tax: float = 0.2) -> str"
    assert Shop.price.__doc__ == "What it costs."
    assert Shop.price(one, "b") == "one b 0.2"
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


async def test_asynchronous_methods() -> None:
    shop = Shop("one")
    assert await asyncio.gather(*[shop.load("a") for _ in range(5)]) == ["a"] * 5
    assert calls == [("one", "a")]


def test_class_and_static_methods() -> None:
    # Type checkers do not see that @classmethod binds it, as it is not a plain function.
    kind: Any = Shop
    other: Any = Other
    assert kind.open("a") == kind("x").open("a") == other.open("a") == "a"
    assert calls == [(Shop, "a"), (Other, "a")]
    calls.clear()
    assert Shop.currency("x") == Shop("y").currency("x") == "x"
    assert Shop.currency.forget("x")
    assert calls == ["x"]
    with pytest.raises(InvalidArgument, match="@classmethod above"):
        cached()(classmethod(lambda cls: 1))  # type: ignore[arg-type]


def test_what_has_no_dict_is_refused() -> None:
    class Slots:
        __slots__ = ()

        @cached_method()
        def price(self) -> int:
            return 1

    with pytest.raises(InvalidArgument, match="__dict__"):
        Slots().price()


def test_options_out_of_range() -> None:
    size: Any = {"size": 1}
    for wrong in (cached(-1), cached(ttl=-1), cached(**size)):
        with pytest.raises(InvalidArgument):
            wrong(area)


def test_a_call_counts_once_however_it_is_written() -> None:
    @cached(10)
    def add(a: int, b: int = 2, /, c: int = 3) -> int:
        return a + b + c

    assert add(1) == add(1, 2) == add(1, 2, 3) == add(1, 2, c=3) == add(1, c=3) == 6
    stats = add.cache.stats()
    assert (stats.misses, stats.hits, stats.entries) == (1, 4, 1)
    assert add(1, c=4) == 7
    assert (add.cache.stats().misses, add.cache.stats().entries) == (2, 2)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        ((), {"a": 1}),
        ((1, 2, 3, 4), {}),
        ((1, 2, 3), {"c": 4}),
        ((1,), {"d": 3}),
        (([],), {}),
    ],
)
def test_arguments_that_do_not_fit_are_an_error_that_is_not_kept(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    @cached(10)
    def add(a: Any, b: int = 2, /, c: int = 3) -> int:
        raise AssertionError

    for _ in range(2):
        with pytest.raises(TypeError):
            add(*args, **kwargs)
    assert len(add.cache) == 0


def test_forget_all_spares_other_entries_of_a_shared_cache() -> None:
    cache: MemoryCache[Any, Any] = MemoryCache()
    double = cache.memoize(key=lambda number: ("double", number))(lambda number: 2 * number)
    cache["mine"] = 1
    assert double(1) == 2
    with pytest.raises(InvalidArgument, match="forget_all"):
        double.forget_all()
    assert double.forget(1) and list(cache) == ["mine"]


def test_a_decorator_may_pass_other_arguments_on() -> None:
    def query(database: str, number: int) -> tuple[str, int]:
        return database, number

    @functools.wraps(query)
    def with_database(*arguments: Any) -> Any:
        return query("db", *arguments)

    assert MemoryCache[Any, Any]().memoize(with_database)(1) == ("db", 1)
    assert lru_cache(with_database)(1) == ("db", 1)
    with Cache() as cache:
        assert cache.memoize(name="query")(with_database)(1) == ["db", 1]
