"""Loads whose thread, process or event loop is gone, and loaders that wait for each other."""

import asyncio
import gc
import threading
from typing import Any

import pytest
from helpers import LIMIT, python, together, waiting

from polycache import InvalidArgument, MemoryCache

FORK = """
import os, sys, threading
import polycache

cache = polycache.MemoryCache()
begun, go_on = threading.Event(), threading.Event()

def slow():
    begun.set()
    go_on.wait()
    return "the parent's"

thread = threading.Thread(target=lambda: cache.get_or_set("k", slow))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    print(cache.get_or_set("k", lambda: "the child's"), flush=True)
    print(cache["k"], len(cache._loads()), flush=True)
    os._exit(0)
os.waitpid(child, 0)
go_on.set()
thread.join()
print(cache["k"], flush=True)
"""


def test_a_forked_child_loads_what_a_thread_of_its_parent_loads() -> None:
    with python(FORK) as process:
        out, _ = process.communicate(timeout=LIMIT)
    assert out.splitlines() == ["the child's", "the child's 0", "the parent's"]


FORK_INSIDE = """
import os
import polycache

cache = polycache.MemoryCache()

def load():
    if os.fork() == 0:
        try:
            cache.get_or_set("k", lambda: 1)
        except polycache.InvalidArgument:
            print("its own key", flush=True)
        return "the child's"
    os.wait()
    return "the parent's"

print(cache.get_or_set("k", load), cache["k"], len(cache._loads()), flush=True)
"""


def test_a_loader_that_forks_goes_on_in_both() -> None:
    with python(FORK_INSIDE) as process:
        out, _ = process.communicate(timeout=LIMIT)
    said = ["its own key", "the child's the child's 0", "the parent's the parent's 0"]
    assert out.splitlines() == said


def begin_in_a_loop_that_is_closed(cache: MemoryCache[str, str]) -> list[Any]:
    """Leaves a load of "k" behind; what is returned keeps it alive."""
    loop = asyncio.new_event_loop()
    never = loop.create_future()

    async def load() -> str:
        await never
        return "never"

    async def begin() -> asyncio.Task[str]:
        task = asyncio.create_task(cache.get_or_set_async("k", load))
        await asyncio.sleep(0)
        return task

    task = loop.run_until_complete(begin())
    loop.close()
    return [task, never]


def collect(left: list[Any]) -> None:
    """Lets go of a task that never ended, without what its loop would say of it."""
    left[0]._log_destroy_pending = False
    left.clear()
    gc.collect()


def test_the_load_of_a_closed_loop_goes_to_the_next_caller() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    left = begin_in_a_loop_that_is_closed(cache)
    assert cache.get_or_set("k", lambda: "next") == "next" == cache["k"]
    collect(left)
    assert cache["k"] == "next" and not cache._loads()


def test_the_load_of_a_closed_loop_goes_to_the_next_task() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    left = begin_in_a_loop_that_is_closed(cache)

    async def load() -> str:
        return "next"

    assert asyncio.run(cache.get_or_set_async("k", load)) == "next"
    collect(left)


def test_a_task_that_is_collected_ends_its_load() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    collect(begin_in_a_loop_that_is_closed(cache))
    assert not cache._loads()


@pytest.mark.parametrize("closed", [False, True])
def test_who_waits_for_a_load_in_a_loop_is_woken(closed: bool) -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    loop = asyncio.new_event_loop()
    never = loop.create_future()

    async def load() -> str:
        await never
        return "never"

    async def begin() -> asyncio.Task[str]:
        task = asyncio.create_task(cache.get_or_set_async("k", load))
        await asyncio.sleep(0)
        return task

    task = loop.run_until_complete(begin())
    found: list[str] = []
    waiter = threading.Thread(target=lambda: found.append(cache.get_or_set("k", lambda: "next")))
    waiter.start()
    waiting(cache, 1)
    if closed:
        loop.close()
    else:
        # Stored by a load that began after a write: it answers all callers that wait.
        cache.delete("k")
        assert cache.get_or_set("k", lambda: "after") == "after"
    waiter.join(LIMIT)
    assert found == ["next" if closed else "after"]
    if not closed:
        loop.close()
    collect([task, never])


def test_a_set_during_a_thread_s_load_wins() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(LIMIT)
        return "loaded"

    def joins() -> str:
        assert begun.wait(LIMIT)
        return cache.get_or_set("k", slow)

    def sets() -> None:
        waiting(cache, 1)
        cache["k"] = "set"
        go_on.set()

    assert together(lambda: cache.get_or_set("k", slow), joins, sets) == ["loaded", "loaded", None]
    assert cache["k"] == "set"


def test_two_loaders_that_ask_for_each_others_key() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    both = threading.Barrier(2)

    def call(mine: str, other: str) -> str:
        def load() -> str:
            both.wait(LIMIT)
            return mine + cache.get_or_set(other, lambda: f"({other} by {mine})")

        return cache.get_or_set(mine, load)

    found = set(together(lambda: call("a", "b"), lambda: call("b", "a")))
    # The second caller was not made to wait; the first may have been given its value.
    assert found in (
        {"ab(a by b)", "b(a by b)"},
        {"a(b by a)", "ba(b by a)"},
        {"a(b by a)", "b(a by b)"},
    )
    assert not cache._loads()


def test_loaders_that_always_ask_for_each_other_are_told() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    both = threading.Barrier(2)

    def load(mine: str, other: str) -> str:
        return cache.get_or_set(other, lambda: load(other, mine))

    def call(mine: str, other: str) -> str:
        def first() -> str:
            both.wait(LIMIT)
            return load(mine, other)

        with pytest.raises(InvalidArgument, match="same key"):
            cache.get_or_set(mine, first)
        return "told"

    assert together(lambda: call("a", "b"), lambda: call("b", "a")) == ["told"] * 2


async def test_tasks_whose_loaders_ask_for_each_others_key() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    both = asyncio.Barrier(2)

    async def call(mine: str, other: str) -> str:
        async def otherwise() -> str:
            return f"({other} by {mine})"

        async def load() -> str:
            await both.wait()
            # In tasks of its own, which the loader waits for.
            (value,) = await asyncio.gather(cache.get_or_set_async(other, otherwise))
            return mine + value

        return await cache.get_or_set_async(mine, load)

    found = set(await asyncio.gather(call("a", "b"), call("b", "a")))
    assert found in (
        {"ab(a by b)", "b(a by b)"},
        {"a(b by a)", "ba(b by a)"},
        {"a(b by a)", "b(a by b)"},
    )
    assert not cache._loads()


async def test_a_blocking_call_does_not_wait_for_a_task_of_its_own_loop() -> None:
    cache: MemoryCache[str, str] = MemoryCache()
    go_on = asyncio.Event()

    async def load() -> str:
        await go_on.wait()
        return "by the task"

    task = asyncio.create_task(cache.get_or_set_async("k", load))
    await asyncio.sleep(0)
    assert cache.get_or_set("k", lambda: "itself") == "itself"
    go_on.set()
    assert await task == "by the task" == cache["k"]


def test_a_loader_that_makes_a_coroutine_is_told() -> None:
    cache: MemoryCache[str, Any] = MemoryCache()

    async def load() -> int:
        return 1

    with pytest.raises(InvalidArgument, match="get_or_set_async"):
        cache.get_or_set("k", load)
    assert "k" not in cache
