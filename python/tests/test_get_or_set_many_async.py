"""get_or_set_many for asyncio."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT, waiting
from many_loads import KINDS, Loader, Slow, caches

from polycache import AsyncCache, MemoryCache


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest, directory: Path) -> Iterator[Callable[..., Any]]:
    """Makes a cache of some kind."""
    with caches(request.param, directory) as make:
        yield make


def asynchronous(cache: Any) -> Any:
    """The method of a cache for asyncio."""
    if isinstance(cache, MemoryCache):
        return cache.get_or_set_many_async
    return AsyncCache.over(cache).get_or_set_many


class AsyncSlow(Loader):
    """As `Slow`, for asyncio."""

    def __init__(self, without: str = "") -> None:
        super().__init__(without)
        self.begun = asyncio.Event()
        self.finish = asyncio.Event()

    async def load(self, keys: list[Any]) -> dict[Any, str]:
        loaded = self(keys)
        self.begun.set()
        await self.finish.wait()
        return loaded


async def test_tasks_load_a_key_once(made: Callable[..., Any]) -> None:
    cache = made()
    ask = asynchronous(cache)
    slow, mine = AsyncSlow(without="c"), AsyncSlow()
    mine.finish.set()
    first = asyncio.create_task(ask(["a", "b", "c"], slow.load))
    await slow.begun.wait()
    others = [asyncio.create_task(ask(["b", "c", "d"], mine.load, ttl="1h")) for _ in range(3)]
    while not cache.has("d"):
        await asyncio.sleep(0)
    waiting(cache, 3 * 2)
    slow.finish.set()
    assert await first == {"a": "A", "b": "B"}
    # What was left out is absent for all of them.
    for other in others:
        assert await other == {"b": "B", "d": "D"}
    assert (slow.asked, mine.asked) == ([["a", "b", "c"]], [["d"]])


async def test_what_falls_to_a_task_that_waits_is_loaded_while_others_load(
    made: Callable[..., Any],
) -> None:
    cache = made()
    ask = asynchronous(cache)
    slow, cancelled, mine = AsyncSlow(), AsyncSlow(), AsyncSlow()
    mine.finish.set()
    first = asyncio.create_task(ask(["a"], slow.load))
    second = asyncio.create_task(ask(["b"], cancelled.load))
    await asyncio.gather(slow.begun.wait(), cancelled.begun.wait())
    third = asyncio.create_task(ask(["a", "b"], mine.load))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait_for(mine.begun.wait(), LIMIT)
    assert mine.asked == [["b"]] and not third.done()
    slow.finish.set()
    assert await third == {"a": "A", "b": "B"} and await first == {"a": "A"}


async def test_a_task_waits_for_no_lease_of_its_own_process(directory: Path) -> None:
    async with AsyncCache(directory, limit="2MiB", wait_timeout="1ms") as cache:

        async def load(keys: list[str]) -> dict[str, int]:
            for key in keys:
                assert await cache.get_or_set(f"inner {key}", seven) == 7
            return dict.fromkeys(keys, 1)

        async def seven() -> int:
            return 7

        keys = [f"key {number}" for number in range(8_000)]
        assert await cache.get_or_set_many(keys, load) == dict.fromkeys(keys, 1)


async def test_a_cancelled_load_falls_to_the_next(made: Callable[..., Any]) -> None:
    cache = made()
    ask = asynchronous(cache)
    slow, mine = AsyncSlow(), AsyncSlow()
    mine.finish.set()
    first = asyncio.create_task(ask(["a", "b"], slow.load))
    await slow.begun.wait()
    second = asyncio.create_task(ask(["a", "b"], mine.load))
    third = asyncio.create_task(ask(["a", "b"], mine.load))
    await asyncio.sleep(0)
    third.cancel()
    first.cancel()
    assert await second == {"a": "A", "b": "B"}
    assert mine.asked == [["a", "b"]]
    for task in (first, third):
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_task_waits_for_a_thread_s_load(made: Callable[..., Any]) -> None:
    cache = made()
    slow = Slow()
    thread = asyncio.create_task(asyncio.to_thread(cache.get_or_set_many, ["a", "b"], slow))
    while not slow.begun.is_set():
        await asyncio.sleep(0.001)
    mine = AsyncSlow()
    mine.finish.set()
    task = asyncio.create_task(asynchronous(cache)(["b", "c"], mine.load))
    while not cache.has("c"):
        await asyncio.sleep(0)
    slow.finish.set()
    assert await task == {"b": "B", "c": "C"}
    assert await thread == {"a": "A", "b": "B"} and mine.asked == [["c"]]


async def test_a_blocking_call_does_not_wait_for_a_task_of_its_own_loop(
    made: Callable[..., Any],
) -> None:
    cache = made()
    slow, mine = AsyncSlow(), Loader()
    task = asyncio.create_task(asynchronous(cache)(["a", "b"], slow.load))
    await slow.begun.wait()
    # What it loads of these keys is its own.
    assert cache.get_or_set_many(["a", "b", "c"], mine) == {"a": "A", "b": "B", "c": "C"}
    assert mine.asked == [["c"], ["a", "b"]]
    slow.finish.set()
    assert await task == {"a": "A", "b": "B"}
