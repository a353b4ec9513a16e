"""What a load promises to the callers that wait for it, whatever the tiers (spec/semantics.md)."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import HOLDER, LIMIT, answer, python, tell, together, until, waiting

from polycache import MISSING, AsyncCache, Cache, InvalidArgument, MemoryCache, WaitTimeout

KINDS: dict[str, Callable[..., Any]] = {
    "directory": lambda path, **options: Cache(path, limit="4MiB", **options),
    "no path": lambda _, **options: Cache(**options),
    "MemoryCache": lambda _, **options: MemoryCache(**options),
}


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest, directory: Path) -> Iterator[Callable[..., Any]]:
    """Makes a cache of some kind."""
    caches = []

    def make(**options: Any) -> Any:
        caches.append(KINDS[request.param](directory, **options))
        return caches[-1]

    yield make
    for cache in caches:
        assert cache._loads() == []


class Slow:
    """A loader that says when it has begun, and ends when it is told to."""

    def __init__(self, end: Callable[[], Any]) -> None:
        self.calls = 0
        self.begun = threading.Event()
        self.finish = threading.Event()
        self._end = end

    def __call__(self) -> Any:
        self.calls += 1
        self.begun.set()
        assert self.finish.wait(LIMIT)
        return self._end()


def gets(cache: Any, loader: Callable[[], Any], key: str = "k") -> Any:
    """What a caller gets, or the error."""
    try:
        return cache.get_or_set(key, loader)
    except Exception as error:
        return error


def test_a_hundred_callers_of_a_failing_loader_load_once(made: Callable[..., Any]) -> None:
    cache = made()
    loader = Slow(lambda: 1 // 0)

    def fail() -> None:
        waiting(cache, 99)
        loader.finish.set()

    found = together(*[lambda: gets(cache, loader)] * 100, fail)[:100]
    assert len(set(map(id, found))) == 1 and isinstance(found[0], ZeroDivisionError)
    assert loader.calls == 1
    # Each raises it from where it failed, not from where all others were, too.
    depth = 0
    traceback = found[0].__traceback__
    while traceback:
        traceback, depth = traceback.tb_next, depth + 1
    assert depth < 10
    assert cache.get_or_set("k", lambda: "afresh") == "afresh"


def test_a_loader_slower_than_the_lease_is_stored(made: Callable[..., Any]) -> None:
    cache = made(lease_timeout="1s")
    first, second = Slow(lambda: "first"), Slow(lambda: "second")
    loaders = iter([first, second])

    def load() -> Any:
        return next(loaders)()

    def finish() -> None:
        # One of the waiting callers loads beside it; the others join that one.
        assert second.begun.wait(LIMIT)
        first.finish.set()
        until(lambda: len(cache._loads()) == 1)
        waiting(cache, 0)
        second.finish.set()

    found = together(*[lambda: cache.get_or_set("k", load)] * 60, finish)[:60]
    assert set(found) == {"first", "second"}
    assert (first.calls, second.calls) == (1, 1)
    assert cache.get("k") == "first"


def test_a_hung_loader_holds_up_nobody(made: Callable[..., Any]) -> None:
    cache = made(lease_timeout="63ms")
    hung = Slow(lambda: "late")

    def later() -> Any:
        assert hung.begun.wait(LIMIT)
        value = cache.get_or_set("k", lambda: "beside")
        assert cache.get("k") == "beside"
        hung.finish.set()
        return value

    assert together(lambda: cache.get_or_set("k", hung), later) == ["late", "beside"]
    assert cache.get("k") == "beside"


def test_waiting_is_bounded(made: Callable[..., Any]) -> None:
    cache = made(wait_timeout="1ms")
    loader = Slow(lambda: "loaded")

    def give_up() -> Any:
        assert loader.begun.wait(LIMIT)
        with pytest.raises(WaitTimeout) as failure:
            cache.get_or_set("k", lambda: "never")
        assert isinstance(failure.value, TimeoutError) and failure.value.retryable
        assert cache.stats().wait_timeouts == 1
        loader.finish.set()

    # The time that its own loader takes does not count.
    assert together(lambda: cache.get_or_set("k", loader), give_up)[0] == "loaded"
    assert loader.calls == 1 and cache.get("k") == "loaded"


def test_whoever_waits_for_another_process_gives_up_alone(cache: Cache) -> None:
    with python(HOLDER, cache.path) as holder:
        assert answer(holder) == "loading"
        # It has waited for others for a long time before.
        leads = cache._begin("k", None, 1e6)
        joined = cache._begin("k", None, 0.0)
        assert leads.mine and not joined.mine
        with pytest.raises(WaitTimeout) as late:
            leads.step()
        # As `loading.load` does with each error.
        leads.fail(late.value)
        # The callers that joined have a bound of their own: one of them polls.
        assert joined.answer() is MISSING and cache.stats().wait_timeouts == 1
        tell(holder, "from the holder")
        assert cache.get_or_set("k", never) == "from the holder"


def test_an_interrupted_leader_lets_one_who_joined_load(made: Callable[..., Any]) -> None:
    cache = made()
    calls = []

    def interrupt() -> Any:
        raise KeyboardInterrupt

    first = Slow(interrupt)

    def leader() -> str:
        with pytest.raises(KeyboardInterrupt):
            cache.get_or_set("k", first)
        return "interrupted"

    def second() -> str:
        calls.append(1)
        return "second"

    def join() -> Any:
        assert first.begun.wait(LIMIT)
        return cache.get_or_set("k", second)

    def finish() -> None:
        waiting(cache, 20)
        first.finish.set()

    found = together(leader, finish, *[join] * 20)
    assert found == ["interrupted", None, *["second"] * 20]
    assert len(calls) == 1


def test_who_begins_after_a_delete_does_not_get_the_old_value(made: Callable[..., Any]) -> None:
    cache = made()
    old, new = Slow(lambda: "old"), Slow(lambda: "new")

    def joins() -> Any:
        assert old.begun.wait(LIMIT)
        return cache.get_or_set("k", new)

    def deletes() -> Any:
        waiting(cache, 1)
        cache.delete("k")
        # Joins no load, but loads.
        return cache.get_or_set("k", new)

    def after() -> Any:
        assert new.begun.wait(LIMIT)
        return cache.get_or_set("k", new)

    def finish() -> None:
        waiting(cache, 2)
        old.finish.set()
        waiting(cache, 1)
        assert not cache.has("k")
        new.finish.set()

    calls = [lambda: cache.get_or_set("k", old), joins, deletes, after, finish]
    assert together(*calls) == ["old", "old", "new", "new", None]
    assert new.calls == 1 and cache.get("k") == "new"


def test_who_begins_after_a_clear_does_not_join_a_load_from_before(
    made: Callable[..., Any],
) -> None:
    cache = made()
    before = cache._begin("k", None, 0.0)
    assert before.step() is None and not cache._begin("k", None, 0.0).mine
    cache.clear()
    after = cache._begin("k", None, 0.0)
    assert after.mine
    assert before.fill("before", None, True) == "before"
    assert not cache.has("k")
    after.abandon()


def test_a_value_that_was_stored_is_looked_for_by_those_who_joined_another_load(
    made: Callable[..., Any],
) -> None:
    cache = made(lease_timeout="63ms")
    woken = []
    first = cache._begin("k", None, 0.0)
    assert first.step() is None
    until(lambda: first.patience == 0)
    beside = cache._begin("k", None, 0.0)
    until(lambda: beside.step() is None)
    joined, late = cache._begin("k", None, 0.0), cache._begin("k", None, 0.0)
    assert not joined.mine and joined.wake(lambda: woken.append(1))
    first.fill("first", None, True)
    # The key may change between storing and waking: they are not handed what was stored.
    cache.delete("k")
    assert woken == [1] and joined.answer() is MISSING
    # A caller that was about to wait is not forgotten either.
    assert not late.wake(str) and late.answer() is MISSING
    assert cache._begin("k", None, 0.0).mine
    assert beside.fill("beside", None, True) == "beside"
    assert not cache.has("k")


def test_a_set_during_a_load_wins(made: Callable[..., Any]) -> None:
    cache = made()
    loader = Slow(lambda: "loaded")

    def joins() -> Any:
        assert loader.begun.wait(LIMIT)
        return cache.get_or_set("k", loader)

    def sets() -> Any:
        waiting(cache, 1)
        cache.set("k", "set")
        found = cache.get_or_set("k", loader)
        loader.finish.set()
        return found

    calls = [lambda: cache.get_or_set("k", loader), joins, sets]
    assert together(*calls) == ["loaded", "loaded", "set"]
    assert cache.get("k") == "set"


def test_a_loader_that_asks_for_its_own_key_is_told(made: Callable[..., Any]) -> None:
    cache = made()
    with pytest.raises(InvalidArgument, match="same key"):
        cache.get_or_set("k", lambda: cache.get_or_set("k", str))
    assert cache.get_or_set("k", lambda: cache.get_or_set("other", lambda: 1)) == 1


def test_loaders_that_ask_for_each_others_key_end(made: Callable[..., Any]) -> None:
    cache = made()
    both = threading.Barrier(2)

    def call(mine: str, other: str) -> Any:
        def load() -> Any:
            both.wait(LIMIT)
            return mine + cache.get_or_set(other, lambda: "alone")

        return cache.get_or_set(mine, load)

    found = set(together(lambda: call("a", "b"), lambda: call("b", "a")))
    assert found in ({"aalone", "balone"}, {"aalone", "baalone"}, {"balone", "abalone"})


def test_a_fork_during_a_load(directory: Path) -> None:
    """A child that has not the thread that loads: over a directory it waits for its parent."""
    with Cache(directory, limit="4MiB") as cache:
        loader = Slow(lambda: "parent's")
        thread = threading.Thread(target=lambda: cache.get_or_set("k", loader))
        thread.start()
        assert loader.begun.wait(LIMIT)
        begun, tell_parent = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                load = cache._begin("k", None, 0.0)
                assert load.mine and isinstance(load.step(), float)
                load.abandon()
                os.write(tell_parent, b"!")
                code = 0 if cache.get_or_set("k", lambda: "child's") == "parent's" else 2
            finally:
                os._exit(code)
        assert os.read(begun, 1) == b"!"
        loader.finish.set()
        assert os.waitpid(child, 0)[1] == 0
        thread.join(LIMIT)
        assert cache.get("k") == "parent's" and cache.check().leases == 0


def test_threads_and_tasks_join_the_same_load(made: Callable[..., Any]) -> None:
    cache = made()
    shared = AsyncCache.over(cache) if isinstance(cache, Cache) else None
    ask = shared.get_or_set if shared else cache.get_or_set_async
    calls = []

    def task() -> Any:
        async def load() -> list[int]:
            calls.append(1)
            await asyncio.to_thread(waiting, cache, 15)
            return [1]

        async def tasks() -> list[Any]:
            return await asyncio.gather(*[ask("k", load) for _ in range(4)])

        return asyncio.run(tasks())

    def thread() -> Any:
        until(lambda: bool(calls))
        return [cache.get_or_set("k", never)] * 4

    def other_loop() -> Any:
        until(lambda: bool(calls))
        return task()

    found = together(task, *[thread] * 8, other_loop)
    assert found == [[[1]] * 4] * 10
    assert len(calls) == 1


def never() -> Any:
    raise AssertionError("this loader must not run")


async def test_a_task_s_waiting_is_bounded_and_its_own_key_told(directory: Path) -> None:
    async with AsyncCache(directory, limit="4MiB", wait_timeout="1ms") as cache:
        finish = asyncio.Event()

        async def slow() -> str:
            await finish.wait()
            return "loaded"

        leader = asyncio.create_task(cache.get_or_set("k", slow))
        await asyncio.sleep(0)
        with pytest.raises(WaitTimeout):
            await cache.get_or_set("k", slow)
        finish.set()
        assert await leader == "loaded"

        async def own() -> None:
            await cache.get_or_set("own", own)

        with pytest.raises(InvalidArgument, match="same key"):
            await cache.get_or_set("own", own)


async def test_a_task_loads_beside_a_hung_one(made: Callable[..., Any]) -> None:
    cache = made(lease_timeout="63ms")
    ask = AsyncCache.over(cache).get_or_set if isinstance(cache, Cache) else cache.get_or_set_async
    finish = asyncio.Event()

    async def hung() -> str:
        await finish.wait()
        return "late"

    async def beside() -> str:
        return "beside"

    leader = asyncio.create_task(ask("k", hung))
    await asyncio.sleep(0)
    assert await asyncio.gather(*[ask("k", beside) for _ in range(20)]) == ["beside"] * 20
    finish.set()
    assert await leader == "late" and cache.get("k") == "beside"


FAILING = """
import sys, threading, polycache
from concurrent.futures import ThreadPoolExecutor
calls = []
def loader():
    calls.append(1)
    if len(calls) == 1:
        print("begun", flush=True)
        go_on.wait()
    raise ZeroDivisionError
def ask():
    try:
        cache.get_or_set("k", loader)
    except ZeroDivisionError:
        return 1
cache = polycache.Cache(sys.argv[1])
go_on = threading.Event()
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(20) as pool:
    asked = [pool.submit(ask) for _ in range(20)]
    while sum(load.waiting for load in cache._loads()) < 19:
        pass
    print("waiting", flush=True)
    sys.stdin.readline()
    go_on.set()
    print(sum(one.result() for one in asked), len(calls), flush=True)
"""


def test_a_failing_source_is_no_convoy(cache: Cache) -> None:
    """60 callers in three processes: two loads a process at most, and each caller gets an error."""
    with (
        python(FAILING, cache.path) as first,
        python(FAILING, cache.path) as second,
        python(FAILING, cache.path) as third,
    ):
        processes = first, second, third
        assert [answer(process) for process in processes] == ["ready"] * 3
        for process in processes:
            tell(process)
        said = [answer(process) for process in processes]
        # One loads; in the others one polls and the rest wait for that one.
        while "waiting" not in said[0]:
            said = [said[0] if said[0] == "waiting" else answer(first), *said[1:]]
        for place, process in enumerate(processes[1:], 1):
            while said[place] != "waiting":
                said[place] = answer(process)
        for process in processes:
            tell(process)
        ends = []
        for process in processes:
            line = answer(process)
            while line == "begun":
                line = answer(process)
            ends.append(line.split())
    assert [int(errors) for errors, _ in ends] == [20] * 3
    assert all(int(loads) <= 2 for _, loads in ends), ends
