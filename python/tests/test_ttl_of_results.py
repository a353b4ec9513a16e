"""A time to live that depends on what was loaded."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from polycache import MISSING, AsyncCache, Cache, InvalidArgument, MemoryCache


@pytest.fixture(params=["directory", "memory"])
def timed(request: Any, directory: Path, clock: Any) -> Iterator[Cache]:
    where = directory if request.param == "directory" else MISSING
    with Cache(where, clock=clock, ttl="1d") as cache:
        yield cache


def by_result(value: Any) -> Any:
    return {"hour": "1h", "second": 1, "ever": None, "default": MISSING}[value]


LIVES = {"hour": 3600, "second": 1, "ever": float("inf"), "default": 86400}


def test_get_or_set(timed: Cache) -> None:
    for value, seconds in LIVES.items():
        assert timed.get_or_set(value, partial(str, value), ttl=by_result) == value
        assert timed.ttl(value) == seconds
    asked: list[Any] = []
    assert timed.get_or_set("hour", lambda: "second", ttl=asked.append) == "hour"
    assert asked == []  # A hit has its time.


async def test_get_or_set_for_asyncio(timed: Cache) -> None:
    async def load() -> str:
        return "hour"

    async def load_many(keys: list[str]) -> dict[str, str]:
        return {key: key for key in keys}

    cache = AsyncCache.over(timed)
    assert await cache.get_or_set("k", load, ttl=by_result) == "hour"
    assert await cache.get_or_set_many(["second", "ever"], load_many, ttl=by_result)
    assert [timed.ttl(key) for key in ("k", "second", "ever")] == [3600, 1, LIVES["ever"]]


def test_get_or_set_many(timed: Cache) -> None:
    for _ in range(2):
        found = timed.get_or_set_many(LIVES, lambda keys: {key: key for key in keys}, ttl=by_result)
        assert found == {key: key for key in LIVES}
    assert {key: timed.ttl(key) for key in LIVES} == LIVES


def test_memoize(timed: Cache, clock: Any) -> None:
    calls: list[int] = []

    @timed.memoize(name="users", ttl=lambda user: "1h" if user else "10s")
    def load_user(number: int) -> dict[str, int] | None:
        calls.append(number)
        return {"number": number} if number else None

    for number in (0, 1, 0, 1):
        load_user(number)
    assert calls == [0, 1]
    clock.now += 10_000
    assert load_user(0) is None and load_user(1) == {"number": 1}
    assert calls == [0, 1, 0]


async def test_memoize_for_asyncio(timed: Cache) -> None:
    @AsyncCache.over(timed).memoize(key=lambda value: value, ttl=by_result)
    async def load(value: str) -> str:
        return value

    for value, seconds in LIVES.items():
        assert await load(value) == value
        assert timed.ttl(value) == seconds


async def test_in_a_memory_cache(clock: Any) -> None:
    cache: MemoryCache[str, str] = MemoryCache(clock=clock, ttl="1d")

    async def load() -> str:
        return "hour"

    async def load_many(keys: list[str]) -> dict[str, str]:
        return {key: key for key in keys}

    assert cache.get_or_set("a", lambda: "second", ttl=by_result) == "second"
    assert await cache.get_or_set_async("b", load, ttl=by_result) == "hour"
    cache.get_or_set_many(["ever"], lambda keys: {key: key for key in keys}, ttl=by_result)
    await cache.get_or_set_many_async(["default"], load_many, ttl=by_result)
    assert [cache.ttl(key) for key in ("a", "b", "ever", "default")] == [
        1,
        3600,
        LIVES["ever"],
        86400,
    ]
    memoized = cache.memoize(key=lambda value: value, ttl=by_result)(lambda value: value)
    assert memoized("second") == "second" and cache.ttl("second") == 1


@pytest.mark.parametrize("wrong", [lambda _: "soon", lambda _: 0, lambda _: True, by_result])
def test_a_function_that_fails_is_an_error_and_nothing_is_stored(
    cache: Cache, wrong: Callable[[Any], Any]
) -> None:
    error = KeyError if wrong is by_result else InvalidArgument
    for _ in range(2):
        with pytest.raises(error):
            cache.get_or_set("k", lambda: 1, ttl=wrong)
        with pytest.raises(error):
            cache.get_or_set_many(["k"], lambda keys: {"k": 1}, ttl=wrong)
    assert "k" not in cache


def test_it_excludes_expires_at(cache: Cache) -> None:
    time = datetime.now(UTC)
    with pytest.raises(InvalidArgument, match="both"):
        cache.get_or_set("k", lambda: "hour", ttl=by_result, expires_at=time)
    with pytest.raises(InvalidArgument, match="both"):
        cache.get_or_set_many(["k"], lambda keys: {}, ttl=by_result, expires_at=time)
    with pytest.raises(InvalidArgument, match="both"):
        cache.memoize(ttl=by_result, expires_at=time)
    with pytest.raises(InvalidArgument):
        cache.set("k", 1, ttl=by_result)  # type: ignore[arg-type]
