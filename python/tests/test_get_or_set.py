"""One loader per key among threads and processes."""

import threading
from pathlib import Path
from typing import Any

import pytest
from helpers import HOLDER, LIMIT, answer, full_of_leases, python, tell, together

from polycache import Cache


class Loader:
    """Says when it has begun, and returns when it is told to."""

    def __init__(self, value: Any = "loaded") -> None:
        self.value = value
        self.calls = 0
        self.begun = threading.Event()
        self.finish = threading.Event()

    def __call__(self) -> Any:
        self.calls += 1
        self.begun.set()
        assert self.finish.wait(LIMIT)
        return self.value


def never() -> None:
    raise AssertionError("this loader must not run")


def test_threads_load_once(cache: Cache) -> None:
    loader = Loader()
    waiting = threading.Barrier(9)

    def wait() -> Any:
        assert loader.begun.wait(LIMIT)
        waiting.wait(LIMIT)
        return cache.get_or_set("k", never)

    def finish() -> None:
        waiting.wait(LIMIT)
        loader.finish.set()

    calls = [lambda: cache.get_or_set("k", loader), finish, *[wait] * 8]
    assert together(*calls) == ["loaded", None, *["loaded"] * 8]
    assert loader.calls == 1


def test_other_keys_are_loaded_meanwhile(cache: Cache) -> None:
    loader = Loader()

    def others() -> None:
        assert loader.begun.wait(LIMIT)
        for number in range(100):
            assert cache.get_or_set(f"k{number}", lambda: 1) == 1
        loader.finish.set()

    together(lambda: cache.get_or_set("k", loader), others)


def test_a_waiter_sees_what_was_set_during_the_load(cache: Cache) -> None:
    loader = Loader()

    def write() -> Any:
        assert loader.begun.wait(LIMIT)
        cache.set("k", "set")
        value = cache.get_or_set("k", never)
        loader.finish.set()
        return value

    assert together(lambda: cache.get_or_set("k", loader), write) == ["loaded", "set"]
    assert cache.get("k") == "set"


def test_after_a_delete_nobody_gets_the_invalidated_load_s_value(cache: Cache) -> None:
    loader = Loader("old")

    def delete() -> Any:
        assert loader.begun.wait(LIMIT)
        cache.delete("k")
        value = cache.get_or_set("k", lambda: "new")
        loader.finish.set()
        return value

    assert together(lambda: cache.get_or_set("k", loader), delete) == ["old", "new"]
    assert cache.get("k") == "new"


def test_a_load_that_takes_too_long_is_taken_over(directory: Path) -> None:
    loader = Loader("slow")
    with Cache(directory, limit="4MiB", lease_timeout="63ms") as cache:

        def take_over() -> Any:
            assert loader.begun.wait(LIMIT)
            value = cache.get_or_set("k", lambda: "quick")
            loader.finish.set()
            return value

        assert together(lambda: cache.get_or_set("k", loader), take_over) == ["slow", "quick"]
        assert cache.get("k") == "quick"


def test_a_load_that_is_let_go_of_frees_its_key(cache: Cache) -> None:
    load = cache._begin("k", None, 0.0)
    assert load.step() is None and not cache._begin("k", None, 0.0).mine
    assert cache.check().leases == 1
    del load
    assert cache._loads() == [] and cache.check().leases == 0
    assert cache.get_or_set("k", lambda: "v") == "v"


def test_without_room_for_a_lease_a_value_is_loaded_and_not_stored(cache: Cache) -> None:
    with full_of_leases(cache) as key:
        assert cache.get_or_set(key, lambda: "v") == "v"
        assert key not in cache


def test_a_process_waits_for_another_s_load(cache: Cache) -> None:
    with python(HOLDER, cache.path) as holder:
        assert answer(holder) == "loading"
        assert isinstance(cache._begin("k", None, 0.0).step(), float)
        tell(holder, "from the holder")
        assert cache.get_or_set("k", never) == "from the holder"
        assert answer(holder) == "from the holder"


@pytest.mark.parametrize("waits", [False, True])
def test_a_killed_holder_s_key_is_free_at_once(cache: Cache, waits: bool) -> None:
    with python(HOLDER, cache.path) as holder:
        assert answer(holder) == "loading"

        def kill() -> None:
            holder.kill()
            holder.wait(LIMIT)

        if not waits:
            kill()
        results = together(lambda: cache.get_or_set("k", lambda: "next"), *[kill] * waits)
        assert results[0] == "next"


COUNTING = """
import os, sys, polycache
def loader():
    with open(sys.argv[2], "a") as log:
        log.write(f"{number}\\n")
    return number
cache = polycache.Cache(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(200):
    assert cache.get_or_set(f"k{number}", loader) == number
print("done", flush=True)
"""


def test_processes_load_each_key_once(cache: Cache, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        python(COUNTING, cache.path, log) as first,
        python(COUNTING, cache.path, log) as second,
        python(COUNTING, cache.path, log) as third,
    ):
        processes = first, second, third
        assert [answer(process) for process in processes] == ["ready"] * 3
        for process in processes:
            tell(process)
        assert [answer(process) for process in processes] == ["done"] * 3
    assert sorted(map(int, log.read_text().split())) == list(range(200))
