"""Memoized methods, class methods and static methods."""

import asyncio
import copy
import inspect
import pickle
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from polycache import AsyncCache, Cache, InvalidArgument, MemoryCache, UnsupportedValue

calls: list[Any] = []
cache = Cache()
waiting = AsyncCache.over(cache)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    calls.clear()
    yield
    cache.clear()


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    @cache.memoize(key=lambda self, item, tax=0.2: f"price:{self.name}:{item}:{tax}")
    def price(self, item: str, tax: float = 0.2) -> str:
        """What it costs."""
        calls.append((self.name, item))
        return f"{self.name} {item} {tax}"

    @cache.memoize(name="load", key=lambda self, item: f"{self.name}:{item}")
    async def load(self, item: str) -> str:
        calls.append((self.name, item))
        await asyncio.sleep(0)
        return f"{self.name} {item}"

    @waiting.memoize(key=lambda self, item: f"fetch:{self.name}:{item}")
    async def fetch(self, item: str) -> str:
        calls.append((self.name, item))
        return item

    @cache.memoize(key=lambda cls, number: f"{cls.__name__}:{number}")
    @classmethod
    def opened(cls, number: int) -> str:
        calls.append((cls, number))
        return f"{cls.__name__} {number}"

    @classmethod
    @cache.memoize(key=lambda cls, number: f"below:{cls.__name__}:{number}")
    def opened_below(cls, number: int) -> str:
        calls.append((cls, number))
        return f"{cls.__name__} {number}"

    @cache.memoize()
    @staticmethod
    def currency(country: str) -> str:
        calls.append(country)
        return country.upper()

    @staticmethod
    @cache.memoize
    def currency_below(country: str) -> str:
        calls.append(country)
        return country.upper()

    @cache.memoize()
    def without_key(self, item: str) -> str:
        return item

    @cache.memoize
    @classmethod
    def class_without_key(cls, item: str) -> str:
        return item


class Branch(Shop):
    pass


def test_a_method_is_bound_to_its_instance() -> None:
    one, two = Shop("one"), Branch("two")
    for _ in range(2):
        assert one.price("a") == one.price(item="a") == Shop.price(one, "a") == "one a 0.2"
        assert two.price("a") == "two a 0.2"
    assert calls == [("one", "a"), ("two", "a")]
    assert one.price.forget("a") and not one.price.forget(item="a")
    assert Shop.price.forget(two, "a") and not two.price.forget("a")
    one.price("a")
    assert len(calls) == 3
    with pytest.raises(InvalidArgument, match="name="):
        one.price.forget_all()


async def test_an_asynchronous_method() -> None:
    shop = Shop("one")
    assert await asyncio.gather(*[shop.load("a") for _ in range(5)]) == ["one a"] * 5
    assert calls == [("one", "a")]
    assert shop.load.forget("a") and not shop.load.forget("a")
    assert await shop.fetch("b") == await Shop.fetch(shop, "b") == "b" and len(calls) == 2
    assert await shop.fetch.forget("b") and not await Shop.fetch.forget(shop, "b")
    with pytest.raises(InvalidArgument, match="name="):
        await shop.fetch.forget_all()
    shop.load.forget_all()
    for method in (Shop.load, shop.load, shop.fetch):
        assert inspect.iscoroutinefunction(method) and asyncio.iscoroutinefunction(method)
    assert not inspect.iscoroutinefunction(shop.price)


def test_a_class_method_is_bound_to_the_class() -> None:
    assert Shop.opened(1) == Shop("x").opened(1) == "Shop 1"
    assert Branch.opened(1) == Branch("x").opened(number=1) == "Branch 1"
    assert calls == [(Shop, 1), (Branch, 1)]
    assert Shop.opened.forget(1) and not Shop("x").opened.forget(1)
    assert Branch.opened.forget(1)


def test_a_class_method_decorated_below() -> None:
    assert Shop.opened_below(1) == Shop("x").opened_below(1) == "Shop 1"
    assert Branch.opened_below(1) == "Branch 1"
    assert calls == [(Shop, 1), (Branch, 1)]
    forget: Any = Shop.opened_below.forget
    # From this version on `classmethod` hides what it binds.
    assert forget(*([Shop] if sys.version_info >= (3, 13) else []), 1)


def test_static_methods() -> None:
    for currency in (Shop.currency, Shop("x").currency, Branch.currency):
        assert currency("dk") == "DK"
    for currency in (Shop.currency_below, Shop("x").currency_below):
        assert currency("no") == "NO"
    assert calls == ["dk", "no"]
    assert Shop.currency.forget("dk") and Shop("x").currency_below.forget("no")
    Shop.currency("dk")
    Shop.currency.forget_all()
    Shop.currency("dk")
    assert calls == ["dk", "no", "dk", "dk"]


def test_an_instance_or_class_needs_a_key_or_a_registered_type() -> None:
    for call in (Shop("one").without_key, Shop.class_without_key):
        with pytest.raises(UnsupportedValue, match="key=") as refusal:
            call("a")
        assert refusal.value.path == "$[0]"


def test_cache_info_is_that_of_the_method() -> None:
    before = Shop.price.cache_info()
    one, two = Shop("one"), Shop("two")
    for shop in (one, one, two):
        shop.price("a")
    hits, misses = one.price.cache_info()
    assert (hits - before.hits, misses - before.misses) == (1, 2)
    assert one.price.cache_info() == two.price.cache_info() == Shop.price.cache_info()


def test_it_looks_like_the_method() -> None:
    one = Shop("one")
    assert str(inspect.signature(one.price)) == "(item: str, tax: float = 0.2) -> str"
    assert str(inspect.signature(Shop.price)) == "(self, item: str, tax: float = 0.2) -> str"
    assert str(inspect.signature(Shop.opened)) == "(number: int) -> str"
    assert Shop.price.__doc__ == "What it costs."
    with pytest.raises(TypeError):
        one.price()  # type: ignore[call-arg]
    method: Any = one.price
    assert (method.__name__, method.__qualname__) == ("price", "Shop.price")
    assert method.__self__ is one
    assert one.price == one.price and len({one.price, one.price}) == 1
    assert one.price != Shop("one").price


def test_it_is_copied_and_pickled_as_a_method() -> None:
    assert pickle.loads(pickle.dumps(Shop.price)) is Shop.price is copy.deepcopy(Shop.price)
    assert pickle.loads(pickle.dumps(Shop.opened)) == Shop.opened
    assert pickle.loads(pickle.dumps(Shop("one").price))("a") == "one a 0.2"


def test_in_memory_the_other_order_is_an_error() -> None:
    memory: MemoryCache[Any, Any] = MemoryCache()
    wrong: Any
    for wrong in (classmethod(lambda cls: 1), staticmethod(lambda: 1)):
        with pytest.raises(InvalidArgument, match=f"@{type(wrong).__name__} above"):
            memory.memoize(wrong)


def test_what_cannot_be_called_is_an_error() -> None:
    number: Any = 1
    wrong: Any
    for wrong in (number, classmethod(number)):
        with pytest.raises(InvalidArgument, match="takes a function"):
            cache.memoize()(wrong)
