"""The cache for asyncio."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from helpers import HOLDER, answer, full_of_leases, python, tell, together

from polycache import MISSING, AsyncCache, Cache, Closed, InvalidArgument


@pytest.fixture
def shared(cache: Cache) -> AsyncCache:
    return AsyncCache.over(cache)


class Loader:
    """Says when it has begun, and returns when it is told to."""

    def __init__(self, value: Any = "loaded") -> None:
        self.value = value
        self.calls = 0
        self.begun = asyncio.Event()
        self.finish = asyncio.Event()

    async def __call__(self) -> Any:
        self.calls += 1
        self.begun.set()
        await self.finish.wait()
        return self.value


async def never() -> None:
    raise AssertionError("this loader must not run")


async def at_once(value: Any) -> Any:
    return value


def in_place(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits."""
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


async def waiting(shared: AsyncCache, loader: Any, count: int) -> list[asyncio.Task[Any]]:
    """Tasks that wait for the load of "k"."""
    tasks = [asyncio.create_task(shared.get_or_set("k", loader)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def test_the_methods_are_those_of_the_cache() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(AsyncCache) == public(Cache) | {"over"}
    for name in public(Cache) - {"closed", "name", "path"}:
        synchronous = inspect.signature(getattr(Cache, name)).parameters
        asynchronous = inspect.signature(getattr(AsyncCache, name)).parameters
        assert list(synchronous) == list(asynchronous), name


def test_reads_and_writes_need_no_event_loop(cache: Cache) -> None:
    shared = AsyncCache.over(cache)
    in_place(shared.set("k", [1], ttl="5m"))
    assert in_place(shared.get("k")) == [1]
    assert in_place(shared.get_or_set("k", never)) == [1]
    assert in_place(shared.get("absent", MISSING)) is MISSING
    assert in_place(shared.has("k")) is True
    assert in_place(shared.ttl("k")) > 200
    in_place(shared.set_many({"a": 1, "b": 2}))
    assert in_place(shared.get_many(["a", "b", "c"])) == {"a": 1, "b": 2}
    assert in_place(shared.delete_many(["a", "c"])) == 1
    assert in_place(shared.delete("b")) is True
    in_place(shared.clear())
    assert in_place(shared.has("k")) is False


async def test_everything_else(shared: AsyncCache, cache: Cache) -> None:
    users = shared.namespace("users")
    for number in range(100):
        await users.set(f"k{number}", number)
    assert {key async for key in users.keys("k1")} == {f"k{n}" for n in (1, *range(10, 20))}
    assert (await shared.stats()).writes == cache.stats().writes == 100
    assert (await shared.check()).whole == 100
    await shared.flush()
    assert shared.path == cache.path
    assert str(cache.path) in repr(users)
    await users.close()
    assert shared.closed
    with pytest.raises(Closed):
        await shared.get("k")


async def test_it_opens_and_closes_by_itself(directory: Path) -> None:
    async with AsyncCache(directory, limit="4MiB", namespace="shop") as shared:
        await shared.set("k", "v")
        with Cache(directory) as cache:
            assert cache.namespace("shop").get("k") == "v"
    assert shared.closed


async def test_the_end_of_a_block_closes_what_was_opened_there(directory: Path) -> None:
    async with AsyncCache(directory, limit="4MiB") as cache:
        async with cache.namespace("users") as users:
            await users.set("k", 1)
        assert not cache.closed and await users.get("k") == 1
        await users.close()
        assert cache.closed


async def test_wrong_arguments_are_refused_before_loading(shared: AsyncCache) -> None:
    with pytest.raises(InvalidArgument):
        await shared.get_or_set("k", never, ttl="soon")
    with pytest.raises(TypeError):
        await shared.get_or_set(5, never)  # type: ignore[arg-type]


async def test_tasks_load_once(shared: AsyncCache) -> None:
    loader = Loader()
    tasks = await waiting(shared, loader, 100)
    await loader.begun.wait()
    loader.finish.set()
    assert await asyncio.gather(*tasks) == ["loaded"] * 100
    assert loader.calls == 1


async def test_a_cancelled_leader_lets_another_load(shared: AsyncCache) -> None:
    first, second = Loader(), Loader("second")
    leader = asyncio.create_task(shared.get_or_set("k", first))
    await first.begun.wait()
    others = await waiting(shared, second, 10)
    leader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leader
    await second.begun.wait()
    second.finish.set()
    assert await asyncio.gather(*others) == ["second"] * 10
    assert (first.calls, second.calls) == (1, 1)


@pytest.mark.parametrize("place", [0, 1, 9])
async def test_a_cancelled_waiter_disturbs_nobody(shared: AsyncCache, place: int) -> None:
    """The first polls for the others; another takes its place."""
    loader = Loader()
    leader = asyncio.create_task(shared.get_or_set("k", loader))
    await loader.begun.wait()
    others = await waiting(shared, never, 10)
    cancelled = others.pop(place)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await asyncio.sleep(0)
    loader.finish.set()
    assert await asyncio.gather(leader, *others) == ["loaded"] * 10


async def test_a_loader_s_error_is_that_of_all_who_wait(shared: AsyncCache) -> None:
    async def fail() -> None:
        calls.append(1)
        await finish.wait()
        raise ZeroDivisionError

    calls: list[int] = []
    finish = asyncio.Event()
    tasks = await waiting(shared, fail, 100)
    finish.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in found] == [ZeroDivisionError] * 100
    assert len(calls) == 1
    assert await shared.get_or_set("k", lambda: at_once("afresh")) == "afresh"


async def test_a_delete_during_the_load_wins(shared: AsyncCache) -> None:
    loader = Loader("old")
    leader = asyncio.create_task(shared.get_or_set("k", loader))
    await loader.begun.wait()
    early = await waiting(shared, never, 2)
    assert await shared.delete("k") is False
    # A stored value answers all callers that wait.
    assert await shared.get_or_set("k", lambda: at_once("new")) == "new"
    assert await asyncio.gather(*early) == ["new"] * 2
    loader.finish.set()
    assert await leader == "old"
    assert await shared.get("k") == "new"


async def test_a_waiter_gets_an_object_of_its_own(shared: AsyncCache) -> None:
    loader = Loader(["shared"])
    tasks = await waiting(shared, loader, 3)
    loader.finish.set()
    values = await asyncio.gather(*tasks)
    values[1].append("changed")
    assert values[2] == ["shared"]


async def test_a_load_that_takes_too_long_is_taken_over(directory: Path) -> None:
    async with AsyncCache(directory, limit="4MiB", lease_timeout="63ms") as shared:
        slow = Loader("slow")
        leader = asyncio.create_task(shared.get_or_set("k", slow))
        await slow.begun.wait()
        assert await shared.get_or_set("k", lambda: at_once("quick")) == "quick"
        slow.finish.set()
        assert await leader == "slow"
        assert await shared.get("k") == "quick"


async def test_waiting_for_another_process_leaves_the_event_loop_free(
    shared: AsyncCache, cache: Cache
) -> None:
    with python(HOLDER, cache.path) as holder:
        assert await asyncio.to_thread(answer, holder) == "loading"
        others = await waiting(shared, never, 10)
        for _ in range(1000):
            await asyncio.sleep(0)
        assert not any(task.done() for task in others)
        tell(holder, "from the holder")
        assert await asyncio.gather(*others) == ["from the holder"] * 10


async def test_a_killed_holder_s_key_is_free(shared: AsyncCache, cache: Cache) -> None:
    with python(HOLDER, cache.path) as holder:
        assert await asyncio.to_thread(answer, holder) == "loading"
        loader = Loader()
        others = await waiting(shared, loader, 3)
        holder.kill()
        await loader.begun.wait()
        loader.finish.set()
        assert await asyncio.gather(*others) == ["loaded"] * 3
        assert loader.calls == 1


async def test_without_room_for_a_lease_a_value_is_loaded_and_not_stored(
    shared: AsyncCache, cache: Cache
) -> None:
    with full_of_leases(cache) as key:
        assert await shared.get_or_set(key, lambda: at_once("v")) == "v"
        assert not await shared.has(key)


def test_event_loops_in_several_threads_share_one_cache(cache: Cache) -> None:
    shared = AsyncCache.over(cache)
    calls = []

    async def load(number: int) -> int:
        calls.append(number)
        await asyncio.sleep(0)
        return number

    async def work() -> None:
        for number in range(50):
            values = await asyncio.gather(
                *[shared.get_or_set(f"k{number}", lambda n=number: load(n)) for _ in range(5)]  # type: ignore[misc]
            )
            assert values == [number] * 5

    runs: list[Callable[[], None]] = [lambda: asyncio.run(work())] * 3
    together(*runs)
    assert sorted(calls) == list(range(50))
    assert cache._loads() == []
