"""What type checkers see of memoized functions: their signatures, as methods too.

The assertions are checked by mypy (`make lint CHECKS=mypy`); pyright reads them alike. A
`type: ignore` that is not needed is an error, so each of them is a call that is refused.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, assert_type

from polycache import AsyncCache, AsyncMemoized, Cache, Memoized, MemoizedInfo

cache = Cache()
asynchronous = AsyncCache.over(cache)


@cache.memoize
def bare(number: int, unit: str = "m") -> str:
    return f"{number} {unit}"


def by_length(text: str) -> str:
    return "1h" if text else "10s"


@cache.memoize(ttl=by_length)
def area(width: int, *, unit: str = "m") -> str:
    return f"{width} {unit}"


@cache.memoize
async def load(number: int) -> bytes:
    return bytes(number)


@asynchronous.memoize(ttl="5m")
async def fetch(number: int) -> bytes:
    return bytes(number)


def number_of(one: object, number: int) -> str:
    return f"{one}:{number}"


class Shop:
    @cache.memoize(key=number_of)
    def price(self, number: int) -> str:
        return f"{number} €"

    @cache.memoize(name="load", key=number_of)
    async def load(self, number: int) -> bytes:
        return bytes(number)

    @cache.memoize(name="opened", key=number_of)
    @classmethod
    def opened(cls, number: int) -> str:
        return f"{cls.__name__} {number}"

    @classmethod
    @cache.memoize(name="below", key=number_of)
    def opened_below(cls, number: int) -> str:
        return f"{cls.__name__} {number}"

    @cache.memoize
    @staticmethod
    def currency(country: str) -> str:
        return country.upper()

    @staticmethod
    @cache.memoize
    def currency_below(country: str) -> str:
        return country.upper()


class Branch(Shop):
    pass


def test_functions() -> None:
    assert_type(bare(1, unit="km"), str)
    assert_type(area(1, unit="km"), str)
    assert_type(area.forget(1, unit="km"), bool)
    assert_type(area.cache_info(), MemoizedInfo)
    assert_type(area.cache_info().hits, int)
    kept: Memoized[[str], str] = cache.memoize(by_length)
    assert_type(kept("2"), str)


async def test_coroutines() -> None:
    function: Callable[[int], Coroutine[Any, Any, bytes]] = load
    assert_type(await function(1), bytes)
    assert_type(await load(1), bytes)
    assert_type(await fetch(1), bytes)
    assert_type(await Shop().load(1), bytes)
    assert_type(await fetch.forget(1), bool)
    assert_type(await fetch.forget_all(), None)
    kept: AsyncMemoized[[int], Awaitable[bytes]] = fetch
    assert_type(kept.cache_info(), MemoizedInfo)


def test_methods() -> None:
    shop = Shop()
    assert_type(shop.price(1), str)
    assert_type(Shop.price(shop, number=1), str)
    assert_type(Branch().price(1), str)
    assert_type(shop.price.forget(number=1), bool)
    assert_type(shop.price.cache_info(), MemoizedInfo)


def test_class_and_static_methods() -> None:
    assert_type(Shop.opened(1), str)
    assert_type(Branch().opened(number=1), str)
    assert_type(Shop.opened.forget(1), bool)
    assert_type(Shop.opened_below(1), str)
    assert_type(Shop().opened_below(1), str)
    assert_type(Shop.currency("dk"), str)
    assert_type(Shop().currency(country="dk"), str)
    assert_type(Shop.currency_below("dk"), str)
    assert_type(Shop().currency_below("dk"), str)


def test_times_to_live() -> None:
    # The function is given what the loader returns.
    assert_type(cache.get_or_set("n", lambda: 60, ttl=lambda seconds: seconds * 2), int)


if TYPE_CHECKING:
    bare("1")  # type: ignore[arg-type]
    bare(1, length=2)  # type: ignore[call-arg]
    area(1, "km")  # type: ignore[call-arg]
    area.forget()  # type: ignore[call-arg]
    Shop().price("1")  # type: ignore[arg-type]
    Shop().price(Shop(), 1)  # type: ignore[call-arg, arg-type]
    Shop().price.forget()  # type: ignore[call-arg]
    Shop.opened("1")  # type: ignore[arg-type]
    Shop.currency(1)  # type: ignore[arg-type]
    cache.get_or_set("n", lambda: 60, ttl=by_length)  # type: ignore[misc]
    asynchronous.memoize(len)  # type: ignore[arg-type]
