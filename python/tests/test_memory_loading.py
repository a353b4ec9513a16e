"""MemoryCache.get_or_set: one loader of all callers."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from helpers import LIMIT, together, waiting

from polycache import InvalidArgument, MemoryCache


def test_it_loads_what_is_not_there() -> None:
    cache: MemoryCache[str, int] = MemoryCache()
    assert cache.get_or_set("k", lambda: 1) == 1
    assert cache.get_or_set("k", lambda: 2) == 1
    assert cache.get_or_set("t", lambda: 3, ttl="1h") == 3
    assert 3590 < (cache.ttl("t") or 0) <= 3600
    assert (cache.stats().hits, cache.stats().misses) == (1, 2)


def test_of_many_threads_one_loads() -> None:
    cache: MemoryCache[str, object] = MemoryCache(isolation="none")
    ready = threading.Barrier(8)
    loads = []

    def load() -> object:
        loads.append(1)
        return object()

    def ask() -> object:
        ready.wait()
        return cache.get_or_set("k", load)

    assert len(set(together(*[ask] * 8))) == 1
    assert len(loads) == 1


def test_who_waits_gets_the_value_or_the_error() -> None:
    cache: MemoryCache[str, object] = MemoryCache(isolation="none")
    begun = threading.Event()
    value = object()

    def load(end: Callable[[], object]) -> object:
        begun.set()
        waiting(cache, 5)
        return end()

    def wait() -> object:
        assert begun.wait(LIMIT)
        return cache.get_or_set("k", object)

    # The object itself, as a reader would get it.
    calls: list[Callable[[], object]] = [lambda: cache.get_or_set("k", lambda: load(lambda: value))]
    assert together(*calls, *[wait] * 5) == [value] * 6
    begun.clear()
    cache.clear()

    def fails(call: Callable[[], object]) -> object:
        with pytest.raises(ZeroDivisionError) as failure:
            call()
        return failure.value

    def first() -> object:
        return fails(lambda: cache.get_or_set("k", lambda: load(lambda: 1 // 0)))

    assert len(set(together(first, *[lambda: fails(wait)] * 5))) == 1
    assert "k" not in cache and not cache._loads()


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda cache: cache.set("k", "set"), "set"),
        (lambda cache: cache.__setitem__("k", "set"), "set"),
        (lambda cache: cache.delete("k"), None),
        (lambda cache: cache.pop("k", None), None),
        (lambda cache: cache.take("k"), None),
        (lambda cache: cache.increment("k"), 1),
        (lambda cache: cache.clear(), None),
        (lambda cache: cache.setdefault("k", "set"), "set"),
        (lambda cache: cache.set_many({"k": "set"}), "set"),
    ],
)
def test_a_change_during_the_load_wins(change: Any, left: Any) -> None:
    cache: MemoryCache[str, Any] = MemoryCache()

    def load() -> Any:
        change(cache)
        # A caller that begins now is not given what is being loaded.
        assert cache.get_or_set("k", lambda: "later") == (left or "later")
        return "loaded"

    assert cache.get_or_set("k", load) == "loaded"
    assert cache.get("k") == (left or "later")


def test_a_loader_that_asks_for_its_own_key_is_told() -> None:
    cache: MemoryCache[str, int] = MemoryCache()
    with pytest.raises(InvalidArgument, match="same key"):
        cache.get_or_set("k", lambda: cache.get_or_set("k", lambda: 1))
    assert cache.get_or_set("k", lambda: cache.get_or_set("other", lambda: 1)) == 1


async def test_of_many_tasks_one_loads() -> None:
    cache: MemoryCache[str, object] = MemoryCache(isolation="none")
    loads = []

    async def load() -> object:
        loads.append(1)
        await asyncio.sleep(0)
        return object()

    found = await asyncio.gather(*[cache.get_or_set_async("k", load) for _ in range(9)])
    assert len(set(found)) == 1 == len(loads)


async def test_a_cancelled_load_goes_to_the_next() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    forever = asyncio.Event()

    async def never() -> str:
        await forever.wait()
        return "never"

    async def value() -> str:
        return "loaded"

    first = asyncio.create_task(cache.get_or_set_async("k", never))
    await asyncio.sleep(0)
    waiters = [asyncio.create_task(cache.get_or_set_async("k", value)) for _ in range(3)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    first.cancel()
    assert await waiters[1] == await waiters[2] == "loaded"
    assert first.cancelled() or isinstance(await asyncio.wait({first}), tuple)
    assert not cache._loads()

    async def own() -> str:
        return await cache.get_or_set_async("own", own)

    with pytest.raises(InvalidArgument, match="same key"):
        await own()


async def test_a_task_waits_for_a_thread_s_load() -> None:
    cache: MemoryCache[str, str] = MemoryCache()

    def load() -> str:
        waiting(cache, 1)
        return "by a thread"

    async def never() -> str:
        raise AssertionError

    thread = asyncio.create_task(asyncio.to_thread(cache.get_or_set, "k", load))
    while not cache._loads():
        await asyncio.sleep(0.001)
    assert await cache.get_or_set_async("k", never) == "by a thread"
    assert await thread == "by a thread"


class Meddled:
    """A key that equals others of its kind, and lets something happen when it is compared."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self.happens = happens

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        happens, self.happens = self.happens, int
        happens()
        return isinstance(other, Meddled)


@pytest.mark.parametrize("change", ["none", "invalidated", "ended"])
def test_one_loads_whatever_comes_between_two_comparisons(change: str) -> None:
    cache: MemoryCache[Meddled, int] = MemoryCache()
    key = Meddled(int)
    before = cache._begin(key, None, 0.0)
    assert before.mine
    if change == "invalidated":
        cache.delete(Meddled(int))
    begun: list[Any] = []

    def begin() -> None:
        begun.append(cache._begin(Meddled(int), None, 0.0))

    def another() -> None:
        if change == "ended":
            before.abandon()
        begin()

    key.happens = another
    begin()
    begin()
    assert [load.mine for load in begun] == [change != "none", False, False]
    assert len(cache._loads()) == (2 if change == "invalidated" else 1)


def test_nothing_is_left_of_loads() -> None:
    cache: MemoryCache[Any, Any] = MemoryCache(100)

    def work(seed: int) -> None:
        for number in range(2000):
            key = (number * seed) % 13
            if number % 7 == 0:
                cache.delete(key)
            assert cache.get_or_set(key, lambda key=key: key) == key  # type: ignore[misc]

    together(*[lambda seed=seed: work(seed) for seed in (1, 2, 3, 5)])
    assert not cache._loads()
