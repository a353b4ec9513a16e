"""`cache_info` of memoized functions: what became of this process' calls."""

import asyncio
import threading
from pathlib import Path
from typing import Any, ClassVar

import pytest
from helpers import together
from stores import OwnStore

from polycache import AsyncCache, Cache, InvalidArgument, MemoizedInfo


def double(number: int) -> int:
    return 2 * number


def test_hits_and_misses(cache: Cache) -> None:
    memoized, other = cache.memoize(double), cache.memoize(name="other")(double)
    assert memoized.cache_info() == MemoizedInfo(hits=0, misses=0)
    for number in (1, 1, 2, 1):
        memoized(number)
    other(1)
    assert memoized.cache_info() == (2, 2)
    assert other.cache_info() == (0, 1)
    memoized.forget(1)
    memoized(1)
    memoized.forget_all()
    assert memoized.cache_info() == (2, 3)


def test_a_failed_call_is_a_miss(cache: Cache) -> None:
    @cache.memoize
    def fail(number: int) -> int:
        raise KeyError(number)

    for _ in range(2):
        with pytest.raises(KeyError):
            fail(1)
    assert fail.cache_info() == (0, 2)


def test_it_counts_this_process_calls(directory: Path) -> None:
    with Cache(directory, limit="4MiB") as one, Cache(directory) as other:
        first, second = one.memoize(double), other.memoize(double)
        first(1)
        second(1)
        assert (first.cache_info(), second.cache_info()) == ((0, 1), (1, 0))


def test_no_call_of_many_threads_is_lost(cache: Cache) -> None:
    memoized = cache.memoize(double)
    together(*[lambda: [memoized(number % 10) for number in range(2000)]] * 4)
    assert sum(memoized.cache_info()) == 8000
    assert memoized.cache_info().misses == 10


def test_waiting_for_another_s_call_is_a_hit(cache: Cache) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    @cache.memoize(name="slow")
    def slow(number: int) -> int:
        begun.set()
        assert goes_on.wait(60)
        return number

    def join() -> int:
        assert begun.wait(60)
        threading.Timer(0, goes_on.set).start()
        return slow(1)

    together(lambda: slow(1), join)
    assert slow.cache_info() == (1, 1)


async def test_asynchronous_functions(cache: Cache) -> None:
    async def load(number: int) -> int:
        await asyncio.sleep(0)
        return number

    for memoized in (
        cache.memoize(name="a")(load),
        AsyncCache.over(cache).memoize(name="b")(load),
        # It returns an awaitable without being a coroutine function.
        AsyncCache.over(cache).memoize(name="c")(lambda number: load(number)),
    ):
        assert await asyncio.gather(*[memoized(1) for _ in range(5)]) == [1] * 5
        assert await memoized(1) == 1
        assert memoized.cache_info() == (5, 1)
    wrong: Any = double
    wrong = AsyncCache.over(cache).memoize(wrong)
    with pytest.raises(InvalidArgument, match="cannot be awaited"):
        await wrong(1)


class Watched(OwnStore):
    readers: ClassVar[set[int]] = set()

    def get(self, key: bytes) -> bytes | None:
        self.readers.add(threading.get_ident())
        return super().get(key)


async def test_the_event_loop_does_not_wait_for_a_store(tmp_path: Path) -> None:
    async with AsyncCache(tmp_path, store=Watched) as cache:

        @cache.memoize(key=str)
        async def load(number: int) -> int:
            return number

        Watched.readers.clear()
        assert [await load(1), await load(1)] == [1, 1]
        assert load.cache_info() == (1, 1)
        assert await load.forget(1)
        named = cache.memoize(name="named")(load)
        await named(2)
        await named.forget_all()
        assert Watched.readers and threading.get_ident() not in Watched.readers
