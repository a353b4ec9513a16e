"""Atomic operations, where Python is special: types of arguments, tasks, threads, forked processes.

What all languages do alike is in spec/conformance.
"""

import os
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import NOW, Clock
from helpers import together

from polycache import (
    DELETE,
    LEAVE,
    MISSING,
    AsyncCache,
    Cache,
    Conflict,
    IntegerOverflow,
    InvalidArgument,
    Type,
    WrongType,
)

TIERS: dict[str, Callable[[Path], Cache]] = {
    "memory and host": lambda path: Cache(path, limit="4MiB"),
    "host alone": lambda path: Cache(path, limit="4MiB", memory=False),
    "memory alone": lambda _: Cache(),
    "memory alone, shared objects": lambda _: Cache(memory={"isolation": "none"}),
}
THREADS = 8
PROCESSES = 4
TIMES = 500


@pytest.fixture(params=TIERS)
def tiers(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with TIERS[request.param](tmp_path / "cache") as cache:
        yield cache


def times(operation: Callable[[], object]) -> Callable[[], None]:
    """A call that does it many times."""

    def run() -> None:
        for _ in range(TIMES):
            operation()

    return run


def in_processes(*calls: Callable[[], object]) -> None:
    """Runs each call in a forked process; all of them must succeed."""
    children = []
    for call in calls:
        child = os.fork()
        if child == 0:
            failed = 1
            try:
                call()
                failed = 0
            finally:
                os._exit(failed)
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    assert statuses == [0] * len(calls)


def test_threads_lose_no_count(tiers: Cache) -> None:
    together(
        *[times(lambda: tiers.increment("k", 2)) for _ in range(THREADS // 2)],
        *[times(lambda: tiers.decrement("k")) for _ in range(THREADS // 2)],
    )
    assert tiers.get("k") == TIMES * THREADS // 2


def test_threads_lose_no_update(tiers: Cache) -> None:
    def run() -> None:
        done = 0
        while done < 50:
            try:
                tiers.update("k", lambda count: count + 1, 0)
                done += 1
            except Conflict:
                pass

    together(*[run] * THREADS)
    assert tiers.get("k") == 50 * THREADS


def test_one_of_several_threads_adds(tiers: Cache) -> None:
    for turn in range(50):
        added = together(*[partial(tiers.add, f"k{turn}", "v")] * THREADS)
        assert sorted(added) == [False] * (THREADS - 1) + [True]


def test_forked_processes_lose_no_count(directory: Path) -> None:
    with Cache(directory, limit="4MiB") as cache:
        in_processes(*[times(lambda: cache.increment("k"))] * PROCESSES)
        assert cache.get("k") == TIMES * PROCESSES
        # This process kept it in memory; the others' next counts are seen all the same.
        in_processes(*[times(lambda: cache.increment("k"))] * PROCESSES)
        assert cache.get("k") == 2 * TIMES * PROCESSES


def test_a_forked_process_of_a_cache_in_memory_counts_for_itself() -> None:
    with Cache() as cache:
        cache.increment("k")

        def count() -> None:
            assert cache.increment("k") == 2

        in_processes(count, count)
        assert cache.get("k") == 1


def test_an_object_in_memory_is_not_served_after_any_of_them(tiers: Cache) -> None:
    writes: list[tuple[Callable[[], object], Any]] = [
        (lambda: tiers.replace("k", "replaced"), "replaced"),
        (lambda: tiers.compare_and_set("k", version(tiers), "set"), "set"),
        (lambda: tiers.update("k", str.upper), "SET"),
        (lambda: tiers.update("k", lambda _: 1), 1),
        (lambda: tiers.increment("k"), 2),
        (lambda: tiers.decrement("k", 4), -2),
        (lambda: tiers.update("k", lambda _: DELETE), None),
        (lambda: tiers.add("k", "added"), "added"),
        (lambda: tiers.touch("k", expires_at=datetime(1999, 1, 1, tzinfo=UTC)), None),
    ]
    tiers.set("k", "old")
    for write, expected in writes:
        # Twice: the second read is served from memory.
        assert tiers.get("k") == tiers.get("k")
        write()
        assert tiers.get("k") == expected
        assert tiers.peek("k") == expected


def version(cache: Cache, key: str = "k") -> int:
    entry = cache.entry(key)
    assert entry is not None
    return entry.version


def test_what_counts_is_an_int(tiers: Cache) -> None:
    for wrong in (True, 1.0, "1", None, 2**63, -(2**63) - 1):
        for arguments in ((wrong,), (1, wrong)):
            with pytest.raises(InvalidArgument):
                tiers.increment("k", *arguments)
    assert tiers.get("k") is None
    for value in (True, 1.0, "1", None, [1]):
        tiers.set("k", value)
        with pytest.raises(WrongType):
            tiers.increment("k")
        assert tiers.get("k") == value
    tiers.set("k", 2**100)
    with pytest.raises(IntegerOverflow):
        tiers.decrement("k")
    assert tiers.get("k") == 2**100


def test_a_version_is_an_int(tiers: Cache) -> None:
    tiers.set("k", "v")
    for wrong in (True, 1.0, "1", None, -1, 2**64):
        with pytest.raises(InvalidArgument):
            tiers.compare_and_set("k", wrong, "w")  # type: ignore[arg-type]
    assert not tiers.compare_and_set("k", version(tiers) ^ 1, "w")
    assert tiers.get("k") == "v"


def test_a_time_to_expire_at_has_a_time_zone(tiers: Cache) -> None:
    for wrong in (datetime(2100, 1, 1), date(2100, 1, 1), 4e9, "2100-01-01", timedelta(1), True):
        with pytest.raises(InvalidArgument):
            tiers.set("k", "v", expires_at=wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument):
            tiers.get_or_set("k", lambda: "v", expires_at=wrong)  # type: ignore[arg-type]
    assert not tiers.has("k")
    with pytest.raises(InvalidArgument):
        tiers.set("k", "v", ttl=None, expires_at=datetime(2100, 1, 1, tzinfo=UTC))
    tiers.set("k", "v", ttl=MISSING, expires_at=datetime(2100, 1, 1, tzinfo=UTC))
    tiers.set("k", "w", expires_at=None)
    assert tiers.ttl("k") == float("inf")


@pytest.mark.parametrize("path", [True, False])
def test_a_time_to_expire_at_is_that_of_its_time_zone(
    directory: Path, clock: Clock, path: bool
) -> None:
    now = datetime.fromtimestamp(NOW / 1000, UTC)
    with Cache(directory if path else MISSING, clock=clock) as cache:
        in_tokyo = (now + timedelta(seconds=5)).astimezone(timezone(timedelta(hours=9)))
        cache.set("k", "v", expires_at=in_tokyo)
        assert cache.ttl("k") == 5
        # Up to the next millisecond.
        cache.set("k", "v", expires_at=now + timedelta(microseconds=1))
        assert cache.ttl("k") == 0.001
        for gone in (datetime.min, datetime(1969, 12, 31)):
            cache.set("k", "v", expires_at=gone.replace(tzinfo=UTC))
            assert not cache.has("k")
        cache.set("k", "v", expires_at=datetime.max.replace(tzinfo=UTC))
        entry = cache.entry("k")
        assert entry is not None
        assert entry.expires == 253_402_300_800_000  # The year 10000.


def test_a_memoized_result_expires_at_a_time(directory: Path, clock: Clock) -> None:
    with Cache(directory, clock=clock) as cache:
        calls: list[int] = []
        until = datetime.fromtimestamp(NOW / 1000 + 5, UTC)

        @cache.memoize(expires_at=until, name="square")
        def square(number: int) -> int:
            calls.append(number)
            return number * number

        assert [square(3), square(3)] == [9, 9]
        clock.now += 5000
        assert square(3) == 9
        assert calls == [3, 3]


def test_an_update_in_memory_keeps_its_time_to_live_by_the_systems_clock() -> None:
    with Cache() as cache:
        cache.set("k", 0, ttl="1d")
        cache.increment("k")
        left = cache.ttl("k")
        assert left is not None
        assert left <= 86_400
        assert cache.update("k", lambda count: count + 1) == 2
        then = cache.ttl("k")
        assert then is not None
        assert then <= left


def test_a_function_sees_a_default_of_its_callers_choice(tiers: Cache) -> None:
    assert tiers.update("k", lambda value: LEAVE if value is MISSING else value, MISSING) is MISSING
    assert tiers.update("k", lambda names: [*names, "Ada"], []) == ["Ada"]
    assert tiers.update("k", lambda names: [*names, "Grace"], []) == ["Ada", "Grace"]
    assert tiers.update("k", lambda _: None, MISSING) is None
    assert tiers.has("k")


def test_a_function_that_fails_changes_nothing(tiers: Cache) -> None:
    tiers.set("k", ["old"])

    def fails(value: list[str]) -> None:
        raise KeyError(value[0])

    with pytest.raises(KeyError, match="old"):
        tiers.update("k", fails)
    with pytest.raises(InvalidArgument):
        tiers.update("k", "no function")  # type: ignore[arg-type]

    async def asynchronous(_: Any) -> str:
        return "new"

    with pytest.raises(InvalidArgument):
        tiers.update("k", asynchronous)
    assert tiers.get("k") == ["old"]


def test_a_function_is_given_a_value_of_its_own(directory: Path) -> None:
    for cache in (Cache(directory), Cache()):
        with cache:
            cache.set("k", ["old"])

            def changes(value: list[str]) -> Any:
                value.append("changed")
                return LEAVE

            assert cache.update("k", changes) is None
            assert cache.get("k") == ["old"]


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


def test_objects_of_registered_types(directory: Path) -> None:
    types = {"point": Type(Point, encode=lambda point: point.x, decode=Point)}
    for cache in (Cache(directory, types=types), Cache(types=types)):
        with cache:
            assert cache.add("k", Point(1))
            assert cache.update("k", lambda point: Point(point.x + 1)).x == 2
            assert cache.get("k").x == 2
            with pytest.raises(WrongType):
                cache.increment("k")


async def test_the_asynchronous_twin(directory: Path) -> None:
    cache = AsyncCache(directory)
    try:
        async with cache:
            assert await cache.add("k", 1)
            assert not await cache.add("k", 2)
            assert await cache.replace("k", 3, ttl="1h")
            entry = await cache.entry("k")
            assert entry is not None
            assert await cache.compare_and_set("k", entry.version, 4)
            assert not await cache.compare_and_set("k", entry.version, 5)
            assert await cache.increment("k", 6) == 10
            assert await cache.decrement("k", initial=7) == 9

            overtaken: list[Any] = []

            async def function(value: Any) -> Any:
                overtaken.append(value)
                if len(overtaken) == 1:
                    await cache.set("k", "theirs")
                return [value]

            assert await cache.update("k", function) == ["theirs"]
            assert overtaken == [9, "theirs"]

            async def overtaken_always(_: Any) -> str:
                await cache.set("k", "theirs")
                return "mine"

            with pytest.raises(Conflict):
                await cache.update("k", overtaken_always)
            with pytest.raises(InvalidArgument):
                await cache.update("k", lambda _: "no coroutine")  # type: ignore[arg-type,return-value]
            assert await cache.get("k") == "theirs"
            await cache.set("k", "v", expires_at=datetime(1999, 1, 1, tzinfo=UTC))
            assert not await cache.has("k")
    finally:
        await cache.close()


def test_many_keys_are_given_in_their_order(tiers: Cache) -> None:
    # More than are fetched from memory at once, some of them kept as objects, some absent.
    keys = [f"key {number}" for number in range(100)]
    for key in keys[::2]:
        tiers.set(key, key)
    for key in keys[::6]:
        tiers.get(key)
    hits = tiers.stats().hits
    assert list(tiers.get_many(iter(keys)).items()) == [(key, key) for key in keys[::2]]
    assert tiers.stats().hits - hits == 50
