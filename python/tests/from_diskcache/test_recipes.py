"""The recipes beside the real ones, in one process."""

import asyncio
import random
import threading
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]
import diskcache.recipes  # type: ignore[import-untyped]
import pytest
from both import SECRET, Time, both, patched
from helpers import LIMIT, together, until

import polycache.diskcache as ours
import polycache.diskcache.recipes


@pytest.mark.parametrize("kind", ["Cache", "FanoutCache"])
def test_the_averager(kind: str, tmp_path: Path) -> None:
    def run(cache: Any, module: Any) -> list[Any]:
        average = module.Averager(cache, "latency")
        seen = [average.get(), average.pop()]
        for number in (0.25, 0.75, 5):
            average.add(number)
            seen.append(average.get())
        return [*seen, average.pop(), average.get()]

    pair = both(tmp_path, kind)
    assert run(pair.theirs, diskcache) == run(pair.mine, ours)


def test_a_lock_is_held_by_one() -> None:
    cache = ours.Cache()
    lock = ours.Lock(cache, "lock")
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with ours.Lock(cache, "lock"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    together(*[work] * 4)
    assert max(most) == 1 and len(most) == 80
    assert not lock.locked()
    lock.acquire()
    assert lock.locked() and "lock" in cache
    lock.release()
    lock.release()
    assert len(cache) == 0


def test_a_lock_s_expiry_and_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = patched(monkeypatch)
    cache = ours.Cache(tmp_path)
    for kind in (ours.Lock, ours.RLock, ours.BoundedSemaphore):
        kind(cache, "k", expire=10, tag="locks").acquire()
        assert cache.get("k", expire_time=True, tag=True)[1:] == (clock.now + 10, "locks")
        clock.now += 11
        assert "k" not in cache
        kind(cache, "k").acquire()
        cache.clear()


def test_an_rlock_is_its_thread_s(tmp_path: Path) -> None:
    for module, cache in (
        (diskcache, diskcache.Cache(str(tmp_path / "theirs"))),
        (ours, ours.Cache(tmp_path / "mine")),
    ):
        lock = module.RLock(cache, "lock")
        with lock, lock:
            lock.acquire()
            refusals: list[type] = []

            def release(lock: Any = lock, refusals: list[type] = refusals) -> None:
                try:
                    lock.release()
                except AssertionError as error:
                    refusals.append(type(error))

            together(release)
            assert refusals == [AssertionError]
            lock.release()
        with pytest.raises(AssertionError, match="un-acquired"):
            lock.release()
        together(lock.acquire)


def test_a_semaphore_counts(tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    semaphore = ours.BoundedSemaphore(cache, "places", value=2)
    semaphore.acquire()
    semaphore.acquire()
    assert not semaphore._try()
    # Another thread may give a place back.
    together(semaphore.release)
    assert semaphore._try()
    semaphore.release()
    semaphore.release()
    with pytest.raises(AssertionError, match="un-acquired"):
        semaphore.release()


@pytest.mark.parametrize("kind", [ours.Lock, ours.RLock, ours.BoundedSemaphore])
def test_a_barrier_lets_one_in(kind: Any, tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    inside: list[int] = []

    @ours.barrier(cache, kind)
    def work(number: int) -> int:
        inside.append(number)
        assert len(inside) == 1
        inside.remove(number)
        return number

    assert sorted(together(*[lambda: work(1), lambda: work(2), lambda: work(3)])) == [1, 2, 3]


def test_throttle_lets_as_many_calls_through(tmp_path: Path) -> None:
    def run(cache: Any, throttle: Any) -> list[float]:
        clock = Time()
        calls: list[float] = []

        @throttle(cache, 2, 1, name="t", time_func=clock.time, sleep_func=clock.sleep)  # type: ignore[untyped-decorator]
        def call() -> None:
            calls.append(clock.now)

        for _ in range(5):
            call()
        clock.now += 10
        for _ in range(5):
            call()
        return calls

    theirs = run(diskcache.Cache(str(tmp_path / "theirs")), diskcache.throttle)
    mine = run(ours.Cache(tmp_path / "mine"), ours.throttle)
    assert mine == pytest.approx(theirs, abs=1e-6)
    assert mine[:2] == [mine[0]] * 2 and mine[4] - mine[0] == pytest.approx(1.5)


def test_throttle_goes_on_when_the_clock_is_set_back(tmp_path: Path) -> None:
    clock = Time()
    start = clock.now

    @ours.throttle(
        ours.Cache(tmp_path), 2, 1, name="t", time_func=clock.time, sleep_func=clock.sleep
    )
    def call() -> float:
        return clock.now

    calls = [call(), call()]
    clock.now -= 3600
    calls += [call(), call(), call()]
    assert calls[:2] == [start, start]
    assert calls[2:] == pytest.approx([start - 3600 + wait for wait in (0.5, 1, 1.5)])


def test_throttle_goes_on_without_its_entry(tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)

    @ours.throttle(cache, 2, 1, name="t")
    def call() -> int:
        return 1

    cache.clear()
    assert call() == 1


@pytest.mark.parametrize("kind", ["Cache", "FanoutCache"])
@pytest.mark.parametrize("typed", [False, True])
def test_memoize(kind: str, typed: bool, tmp_path: Path) -> None:
    def run(cache: Any) -> Any:
        calls: list[Any] = []

        @cache.memoize(name="f", typed=typed, tag="t", ignore={"c", 2})  # type: ignore[untyped-decorator]
        def f(a: Any, b: Any = 2, *rest: Any, c: Any = 3) -> Any:
            calls.append((a, b, rest, c))
            return (a, [b])

        results = [
            f(1), f(1), f(1.0), f(True), f(1, 2), f(1, b=2), f(1, 2, 7), f(1, 2, 8), f(1, c=4),
            f([1], {"x": 1}), f([1], {"x": 1}), f.__wrapped__(1), len(cache),
        ]  # fmt: skip
        assert f.__cache_key__(1) in cache
        return results, calls, cache.evict("t"), f.__name__

    pair = both(tmp_path, kind)
    assert run(pair.theirs) == run(pair.mine)
    with pytest.raises(TypeError, match="name cannot be callable"):
        pair.mine.memoize(len)


@pytest.mark.parametrize("typed", [False, True])
def test_memoize_without_pickle(typed: bool, tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    calls: list[Any] = []

    @cache.memoize(typed=typed)
    def f(a: Any, **more: Any) -> Any:
        calls.append(a)
        return a

    assert [f(1), f(1), f(1.0), f(1, x=[1]), f(1, x=[1])] == [1] * 5
    assert len(calls) == 3
    with pytest.raises(ours.PickleNeeded, match="use_pickle"):
        f(object())


def test_memoize_for_no_time_stores_nothing(tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    calls: list[int] = []

    @cache.memoize(expire=0)
    def f() -> int:
        calls.append(1)
        return 1

    assert (f(), f(), len(calls), len(cache)) == (1, 1, 2, 0)


async def test_memoize_of_a_coroutine_function(tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    calls: list[int] = []

    @cache.memoize()
    async def f(number: int) -> int:
        await asyncio.sleep(0)
        calls.append(number)
        return number

    assert [await f(1), await f(1), await f(2)] == [1, 1, 2] and calls == [1, 2]


def test_memoize_stampede_computes_again_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    monkeypatch.setattr(polycache.diskcache.recipes, "time", clock)
    cache = ours.Cache(tmp_path, pickle_secret=SECRET)
    calls: list[int] = []
    again = threading.Event()
    draws = [1.0]
    monkeypatch.setattr(random, "random", lambda: draws[-1])

    @ours.memoize_stampede(cache, expire=100, name="f")
    def f(number: int) -> int:
        calls.append(number)
        clock.now += 2
        if len(calls) == 2:
            again.set()
        return len(calls)

    assert [f(7), f(7)] == [1, 1]
    clock.now += 90
    draws.append(1e-9)  # 2 s * -log(1e-9) = 41 s, and 10 s are left.
    assert f(7) == 1
    assert again.wait(LIMIT)
    draws.append(1.0)
    until(lambda: f(7) == 2)  # The thread stores it.
    assert calls == [7, 7]
    clock.now += 101
    assert f(7) == 3
    key = f.__cache_key__(7)  # type: ignore[attr-defined]
    assert cache[key] == (3, 2.0)
