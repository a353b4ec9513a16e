"""A `Cache` without a directory: the memory tier alone, with the results of one that has one."""

import asyncio
import copy
import gc
import os
import pickle
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Clock
from helpers import LIMIT, together, until

from polycache import (
    MISSING,
    AsyncCache,
    Cache,
    Closed,
    EntryTooLarge,
    InvalidArgument,
    InvalidKey,
    UnsupportedValue,
)


def in_a_child(check: Callable[[], bool]) -> bool:
    """What `check` says in a child that is forked here."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


VALUES = [[1, [2]], {"a": {"b": [1]}}, {1, 2}, [{"a": {1}}]]


@pytest.mark.parametrize("value", VALUES)
def test_nobody_sees_what_another_changes(value: Any) -> None:
    def spoil(given: Any) -> None:
        for part in list(given.values() if isinstance(given, dict) else given):
            if isinstance(part, list | dict | set):
                spoil(part)
        given.clear()

    cache = Cache()
    stored, before = copy.deepcopy(value), copy.deepcopy(value)
    cache.set("k", stored)
    spoil(stored)
    for _ in range(2):
        spoil(cache.get("k"))
        spoil(cache.get_or_set("k", dict))
        spoil(cache.get_many(["k"])["k"])
    assert cache.get("k") == before
    loaded = copy.deepcopy(value)
    spoil(cache.get_or_set("loaded", lambda: loaded))
    assert cache.get("loaded") == before


def test_what_cannot_change_is_shared() -> None:
    cache = Cache()
    for value in ["text" * 9, b"bytes" * 9, 10**30, 1.5, None]:
        cache.set("k", value)
        assert cache.get("k") is value
        cache.set("list", [value])
        assert cache.get("list")[0] is cache.get("list")[0]


class Thing:
    pass


def test_the_results_are_those_of_a_directory(tmp_path: Path) -> None:
    for cache in (Cache(), Cache(tmp_path, limit="4MiB")):
        cache.set("k", (1, (2,), frozenset({3})))
        assert cache.get("k") == [1, [2], {3}]
        with pytest.raises(UnsupportedValue) as failure:
            cache.set("k", {"a": [Thing()]})
        assert failure.value.path == "$.a[0]"
        assert cache.get("k") == [1, [2], {3}]
        cache.set(b"text", 1)
        assert cache.get("text") == 1 and cache.has(b"text")
        assert list(cache.keys("te")) == ["text"]
        cache.set(b"\xff", 2)
        assert list(cache.keys(b"\xff")) == [b"\xff"]
        for wrong in ("\ud800", 7):
            with pytest.raises(InvalidKey):
                cache.get(wrong)  # type: ignore[arg-type]


def test_without_isolation_it_takes_and_gives_any_object() -> None:
    cache = Cache(memory={"isolation": "none"})
    for value in (Thing(), [1], lambda: 1, (1,)):
        cache.set("k", value)
        assert cache.get("k") is value
        assert cache.get_or_set("k", dict) is value


def test_options_about_bytes_and_directories_are_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"limit": "4MiB"},
        {"serializer": "json"},
        {"compressor": "zstd"},
        {"encryption": [{"id": 1, "key": bytes(32)}]},
        {"empty_at_boot": False},
        {"flush_every": "5s"},
        {"memory": False},
        {"memory": {"isolation": "freeze"}},
        {"memory": {"max_entries": 0}},
        {"lease_timeout": 0.062},
        {"lease_timeout": "9h"},
        {"ttl": 0},
        {"clock": 1},
        {"namespace": ""},
        {"unknown": 1},
    ]
    for options in wrong:
        with pytest.raises(InvalidArgument):
            Cache(**options)
    # A path that is missing by mistake is not to become another cache.
    with pytest.raises(InvalidArgument):
        Cache(None)  # type: ignore[arg-type]
    Cache(limit=None, serializer=None, memory=True, lease_timeout="63ms").close()


def test_a_clear_takes_what_is_nested_and_nothing_else() -> None:
    cache = Cache(namespace="shop")
    users, orders, similar = (cache.namespace(part) for part in ("users", "orders", "usersAbc"))
    nested = users.namespace("a")
    for one in (cache, users, orders, similar, nested):
        one.set("k", 1)
    users.clear()
    assert [one.has("k") for one in (cache, users, orders, similar, nested)] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert cache.stats().entries == 3
    nested.set("k", 2)
    # Another cache of the same namespace.
    assert cache.namespace("users").namespace("a").get("k") == 2
    assert list(users.keys()) == []
    cache.clear()
    assert cache.stats().entries == 0 and not nested.has("k")


def test_namespaces_that_nobody_holds_keep_their_entries() -> None:
    cache = Cache()
    for number in range(100):
        cache.namespace(f"n{number}").set("k", number)
        cache.namespace(f"empty{number}")
    gc.collect()
    assert [cache.namespace(f"n{number}").get("k") for number in range(100)] == list(range(100))


def test_it_is_bounded() -> None:
    few = Cache(memory={"max_entries": 10})
    few.set_many({str(number): number for number in range(100)})
    assert few.stats().entries == 10 and few.stats().evicted_by_age == 90
    small = Cache(memory={"max_bytes": 2000})
    small.set("k", "old")
    with pytest.raises(EntryTooLarge):
        small.set("k", "x" * 2000)
    assert not small.has("k")
    assert small.get_or_set("k", lambda: ["x" * 2000]) == ["x" * 2000]
    assert not small.has("k") and small.stats().unstored == 1
    assert small.check().leases == 0 and 0 < small.stats().limit == 2000
    assert Cache(memory={"max_bytes": None}).stats().bytes == 0


def test_times_to_live(clock: Clock) -> None:
    cache = Cache(ttl="10s", clock=clock)
    cache.set("own", 1)
    cache.set("given", 1, ttl=20)
    cache.set("forever", 1, ttl=None)
    assert (cache.ttl("own"), cache.ttl("given"), cache.ttl("forever")) == (10, 20, float("inf"))
    clock.now += 10_000
    assert sorted(cache.keys()) == ["forever", "given"]
    assert cache.ttl("own") is None and not cache.delete("own")


def test_of_many_threads_one_loads() -> None:
    cache = Cache()
    ready = threading.Barrier(8)
    loads = []

    def load() -> list[int]:
        loads.append(1)
        # Until the others are refused the lease.
        for _ in range(1000):
            assert cache.check().leases == 1
        return [len(loads)]

    def ask() -> list[int]:
        ready.wait()
        return cache.get_or_set("k", load)

    assert together(*[ask] * 8) == [[1]] * 8
    assert len(loads) == 1 and cache.check().leases == 0


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda cache: cache.set("k", "set"), "set"),
        (lambda cache: cache.set(b"k", "set"), "set"),
        (lambda cache: cache.delete("k"), MISSING),
        (lambda cache: cache.clear(), MISSING),
        (lambda cache: cache.set("other", 1), "loaded"),
        (lambda cache: cache.namespace("n").clear(), "loaded"),
    ],
)
def test_a_write_during_the_load_wins(change: Callable[[Cache], object], left: object) -> None:
    cache = Cache()
    cache.namespace("n").set("k", 1)

    def load() -> str:
        change(cache)
        return "loaded"

    assert cache.get_or_set("k", load) == "loaded"
    assert cache.get("k", MISSING) == left
    assert cache.stats().invalidated_loads == (left != "loaded")


def test_a_load_that_fails_or_takes_too_long_holds_nobody_up() -> None:
    cache = Cache(lease_timeout=0.063)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_set("k", lambda: 1 // 0)
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(LIMIT)
        return "late"

    def other() -> str:
        assert begun.wait(LIMIT)
        found = cache.get_or_set("k", lambda: "next")
        go_on.set()
        return found

    assert together(lambda: cache.get_or_set("k", slow), other) == ["late", "next"]
    assert cache.get("k") == "next" and cache.stats().invalidated_loads == 1


async def test_coroutines_wait_for_one_load() -> None:
    async with AsyncCache() as cache:
        loads = []

        async def load() -> list[int]:
            loads.append(1)
            await asyncio.sleep(0)
            return [1]

        found = await asyncio.gather(*(cache.get_or_set("k", load) for _ in range(5)))
        assert found == [[1]] * 5 and len(loads) == 1
        assert cache.path is None
        nested = cache.namespace("n")
        await nested.set("k", 1)
        assert [key async for key in nested.keys("")] == ["k"]
        assert (await cache.stats()).entries == 2
        await cache.flush()
    assert nested.closed


def test_memoize() -> None:
    cache = Cache()
    calls = []

    @cache.memoize(name="twice")
    def twice(number: int) -> list[int]:
        calls.append(number)
        return [number * 2]

    twice(2).clear()
    assert twice(2) == [4] and calls == [2]
    assert twice.forget(2) and not twice.forget(2)
    twice(2)
    twice.forget_all()
    twice(2)
    assert calls == [2, 2, 2]


def test_it_can_be_neither_copied_nor_pickled() -> None:
    cache = Cache()
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(InvalidArgument, match="without a path"):
            attempt(cache)
    assert repr(cache.namespace("n")) == "<polycache.Cache in memory, namespace=['n']>"
    assert cache.path is None


def test_a_forked_child_has_its_own() -> None:
    cache = Cache()
    cache.set("k", ["parent's"])

    def check() -> bool:
        found = cache.get("k") == ["parent's"]
        cache.set("k", "child's")
        return bool(found and cache.get("k") == "child's")

    assert in_a_child(check)
    assert cache.get("k") == ["parent's"]

    def load() -> str:
        assert in_a_child(lambda: cache.get_or_set("loads", lambda: "own") == "own")
        # The child goes on within the load as well.
        assert in_a_child(own_key)
        return "loaded"

    def own_key() -> bool:
        with pytest.raises(InvalidArgument):
            cache.get_or_set("loaded", str)
        return True

    go_on = threading.Event()

    def stay() -> str:
        assert go_on.wait(LIMIT)
        return "parent's"

    thread = threading.Thread(target=lambda: cache.get_or_set("loads", stay))
    thread.start()
    until(lambda: bool(cache._loads()))
    # The child does not have the thread that loads: the call must not wait for it.
    assert cache.get_or_set("loaded", load) == "loaded" == cache.get("loaded")
    go_on.set()
    thread.join(LIMIT)
    assert cache.get("loads") == "parent's" and cache._loads() == []


def test_closing_closes_all_and_lets_go() -> None:
    cache = Cache(memory={"isolation": "none"})
    nested = cache.namespace("n")
    thing = Thing()
    gone = weakref.ref(thing)
    nested.set("k", thing)
    del thing
    cache.close()
    cache.close()
    assert gone() is None and nested.closed
    calls: list[Callable[[], object]] = [
        lambda: nested.get("k"),
        lambda: nested.set("k", 1),
        lambda: nested.delete("k"),
        lambda: nested.has("k"),
        lambda: nested.ttl("k"),
        lambda: nested.get_or_set("k", dict),
        lambda: list(nested.keys()),
        nested.clear,
        nested.stats,
        nested.check,
        nested.flush,
        lambda: nested.namespace("n"),
    ]
    for call in calls:
        with pytest.raises(Closed):
            call()


def test_cycles_through_shared_objects_are_collected() -> None:
    class Watched(Cache):
        pass

    cache = Watched(memory={"isolation": "none"})
    cache.set("k", [cache])
    gone = weakref.ref(cache)
    del cache
    gc.collect()
    assert gone() is None
