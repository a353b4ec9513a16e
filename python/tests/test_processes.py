"""fork, spawn and pickling."""

import gc
import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT

from polycache import AsyncCache, Cache, Closed


def in_fork(work: Callable[[], None]) -> None:
    """Runs it in a forked child, and fails when it fails."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_a_forked_child_goes_on_with_its_parent_s_handle(cache: Cache) -> None:
    cache.set("parent", "p")

    def work() -> None:
        assert cache.get("parent") == "p"
        cache.set("child", "c")
        assert cache.get_or_set("loaded", lambda: "l") == "l"
        cache.set_many({f"k{number}": number for number in range(1000)})

    in_fork(work)
    assert cache.get("child") == "c"
    assert cache.get("loaded") == "l"
    assert len(list(cache.keys())) == 1003
    cache.set("parent", "again")


def test_a_child_that_dies_while_it_loads_frees_the_key(cache: Cache) -> None:
    # The parent's lock is not the child's: the child's load ends with the child.
    in_fork(lambda: cache.get_or_set("k", lambda: os._exit(0)))
    assert cache.get_or_set("k", lambda: "parent") == "parent"


def test_a_child_that_a_loader_forks_leaves_the_load_to_its_parent(cache: Cache) -> None:
    class ChildLeaves(BaseException):
        pass

    def loader() -> str:
        child = os.fork()
        if child == 0:
            raise ChildLeaves
        os.waitpid(child, 0)
        assert cache.check().leases == 1
        return "parent's"

    try:
        assert cache.get_or_set("k", loader) == "parent's"
    except ChildLeaves:
        gc.collect()
        os._exit(0)
    assert cache.get("k") == "parent's"


def test_a_child_closes_its_own_handle_only(cache: Cache) -> None:
    in_fork(cache.close)
    cache.set("k", "v")
    assert cache.get("k") == "v"


def test_a_fork_beside_a_busy_thread(directory: Path) -> None:
    """Whatever lock the thread holds when the child is made, the child does not wait for it."""
    with Cache(directory, limit="256MiB") as cache:
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                cache.set("busy", "x" * 10_000)

        def work() -> None:
            cache.set("child", os.getpid())
            assert cache.get("child") == os.getpid()

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(20):
                in_fork(work)
        finally:
            stop.set()
            writer.join(LIMIT)


def child(cache: Cache, name: str) -> None:
    cache.set(name, cache.get_or_set("k", lambda: "loaded by the child"))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_cache_is_an_argument_for_multiprocessing(cache: Cache, method: Any) -> None:
    users = cache.namespace("users")
    process = multiprocessing.get_context(method).Process(target=child, args=(users, method))
    process.start()
    process.join(LIMIT)
    assert process.exitcode == 0
    assert users.get(method) == "loaded by the child"


def test_a_pickled_cache_opens_its_directory_again(directory: Path) -> None:
    with Cache(directory, limit="4MiB", namespace="a", ttl="5m") as cache:
        nested = cache.namespace("b:c")
        nested.set("k", "v")
        with pickle.loads(pickle.dumps(nested)) as copy:
            assert copy.get("k") == "v"
            copy.set("timed", 1)
            assert cache.namespace("b:c").ttl("timed") > 200  # type: ignore[operator]
        assert not nested.closed
        asynchronous = pickle.loads(pickle.dumps(AsyncCache.over(nested)))
        assert asynchronous.path == directory
    with pytest.raises(Closed):
        pickle.dumps(cache)
