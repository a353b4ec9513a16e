"""MemoryCache.get_or_set: one loader of all callers."""

import asyncio
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from helpers import LIMIT, together

from polycache import InvalidArgument, MemoryCache, memory_flights


def test_it_loads_what_is_not_there() -> None:
    cache: MemoryCache[str, int] = MemoryCache()
    assert cache.get_or_set("k", lambda: 1) == 1
    assert cache.get_or_set("k", lambda: 2) == 1
    assert cache.get_or_set("t", lambda: 3, ttl="1h") == 3
    assert 3590 < (cache.ttl("t") or 0) <= 3600
    assert (cache.stats().hits, cache.stats().misses) == (1, 2)


def test_of_many_threads_one_loads() -> None:
    cache: MemoryCache[str, object] = MemoryCache()
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


def waiting(cache: MemoryCache[Any, Any], count: int) -> None:
    """Until so many wait for the load of "k"."""
    give_up = threading.Event()
    for _ in range(int(LIMIT * 100)):
        flight = cache._loads.find("k")
        if flight is not None and len(flight._waiting) == count:
            return
        give_up.wait(0.01)
    raise AssertionError("nobody waits")


def test_who_waits_gets_the_value_or_loads_after_a_failure() -> None:
    cache: MemoryCache[str, str] = MemoryCache()

    def fails() -> str:
        waiting(cache, 1)
        raise ZeroDivisionError

    begun = threading.Event()

    def first() -> str:
        def load() -> str:
            begun.set()
            return fails()

        with pytest.raises(ZeroDivisionError):
            cache.get_or_set("k", load)
        return "failed"

    def second() -> str:
        begun.wait(LIMIT)
        return cache.get_or_set("k", lambda: "loaded")

    assert together(first, second) == ["failed", "loaded"]
    assert cache["k"] == "loaded"


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda cache: cache.set("k", "set"), "set"),
        (lambda cache: cache.__setitem__("k", "set"), "set"),
        (lambda cache: cache.delete("k"), None),
        (lambda cache: cache.pop("k", None), None),
        (lambda cache: cache.clear(), None),
        (lambda cache: cache.setdefault("k", "set"), "set"),
        (lambda cache: cache.set_many({"k": "set"}), "set"),
    ],
)
def test_a_change_during_the_load_wins(change: Any, left: str | None) -> None:
    cache: MemoryCache[str, str] = MemoryCache()

    def load() -> str:
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
    cache: MemoryCache[str, object] = MemoryCache()
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
    assert not cache._loads

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
    while not cache._loads:
        await asyncio.sleep(0.001)
    assert await cache.get_or_set_async("k", never) == "by a thread"
    assert await thread == "by a thread"


def interleaved(first: Callable[[], object], steps: dict[int, Callable[[], object]]) -> int:
    """Calls `first`, and before the lines of memory_flights.py that it comes to, counted, `steps`.

    Returns how many lines there were. Another thread may run between any two lines.
    """
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != memory_flights.__file__:
            return None
        if event == "line":
            steps.get(lines, int)()
            lines += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        first()
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("who", ["begins", "ends"])
def test_after_a_voided_load_one_loads_wherever_others_come_between(who: str) -> None:
    def run(second: int, third: int) -> int:
        cache: MemoryCache[str, int] = MemoryCache()
        loads = cache._loads
        begun = []

        def begin() -> None:
            begun.append(loads.join_or_begin(cache, "k", None))

        voided, _ = loads.join_or_begin(cache, "k", None)
        cache.delete("k")
        assert voided.load.voided

        def end() -> None:
            with loads.running(cache, voided):
                pass

        lines = interleaved(begin if who == "begins" else end, {second: begin, third: begin})
        begin()
        assert [mine for _, mine in begun].count(True) == 1, (second, third)
        assert len({id(flight) for flight, _ in begun}) == 1
        return lines

    lines = run(-1, -1)
    assert lines > 5
    for second in range(lines):
        for third in range(second, lines + 10):
            run(second, third)


def test_nothing_is_left_of_loads() -> None:
    cache: MemoryCache[Any, Any] = MemoryCache(100)

    def work(seed: int) -> None:
        for number in range(2000):
            key = (number * seed) % 13
            if number % 7 == 0:
                cache.delete(key)
            assert cache.get_or_set(key, lambda key=key: key) == key  # type: ignore[misc]

    together(*[lambda seed=seed: work(seed) for seed in (1, 2, 3, 5)])
    assert not cache._loads
    woken: list[int] = []
    begun = cache._begin("k", lambda: woken.append(1))
    cache.set("k", 1)
    assert begun.voided and woken == [1]
