"""Locks by the names of keys, as adapters use them."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT, answer, python, together

from polycache import AsyncCache, AsyncLease, Cache, Lease, WaitTimeout


@pytest.fixture(params=["directory", "no path"])
def either(request: pytest.FixtureRequest, directory: Path) -> Iterator[Cache]:
    path = (directory,) if request.param == "directory" else ()
    limit: Any = {"limit": "4MiB"} if path else {}
    with Cache(*path, wait_timeout="10m", **limit) as cache:
        yield cache


def test_of_many_threads_one_holds_it(either: Cache) -> None:
    counted = 0

    def count() -> None:
        nonlocal counted
        for _ in range(20):
            with either.lease("k") as lease:
                seen = counted
                assert lease.locked()
                counted = seen + 1

    together(*[count] * 4)
    assert counted == 80 and not either.lease("k").locked()


def test_one_object_may_be_shared_as_dogpile_does(either: Cache) -> None:
    mutex = either.lease("k")
    assert isinstance(mutex, Lease)
    assert mutex.acquire() and not mutex.acquire(False)
    acquired = threading.Event()

    def acquire() -> bool:
        won = mutex.acquire(wait=True)
        acquired.set()
        return won

    def release() -> None:
        assert not acquired.is_set()
        mutex.release()

    assert together(acquire, release) == [True, None]
    assert mutex.locked()
    mutex.release()
    mutex.release()
    assert not mutex.locked()


def test_a_lease_that_is_let_go_of_is_free(either: Cache) -> None:
    assert either.lease("k").acquire(False)
    assert either.lease("k").acquire(False)


def test_the_context_raises_what_it_waited_too_long_for(directory: Path) -> None:
    with Cache(directory, limit="4MiB", wait_timeout="1ms") as cache:
        held = cache.lease("k")
        assert held.acquire()
        with pytest.raises(WaitTimeout), cache.lease("k"):
            raise AssertionError
        held.release()


async def test_asynchronous(either: Cache) -> None:
    cache = AsyncCache.over(either)
    lease = cache.lease("k")
    assert isinstance(lease, AsyncLease)
    async with lease:
        assert await lease.locked() and not await cache.lease("k").acquire(wait=False)
        # Threads see it, too.
        assert either.lease("k").locked()
    assert not await lease.locked()
    assert await lease.acquire("1ms")
    await lease.release()


DYING = """
import os, sys, polycache
cache = polycache.Cache(sys.argv[1])
lease = cache.lease("k")
assert lease.acquire()
print("held", flush=True)
sys.stdin.readline()
"""


def test_a_holder_that_dies_frees_it(cache: Cache) -> None:
    with python(DYING, cache.path) as holder:
        assert answer(holder) == "held"
        lease = cache.lease("k")
        assert lease.locked() and not lease.acquire(wait=False)
        assert not cache.has("k") and list(cache.keys()) == []
        holder.kill()
        holder.wait(LIMIT)
        assert lease.acquire(wait=LIMIT)
        lease.release()
