"""What a cache does with one entry beside get and set; what all languages share is in
test_conformance.py."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import NOW, Clock
from helpers import answer, python, tell, together

from polycache import (
    MISSING,
    AsyncCache,
    Cache,
    Closed,
    InvalidArgument,
    InvalidKey,
    PolycacheError,
    Type,
    UnsupportedValue,
    ValueTooLarge,
    WrongType,
)

KINDS: dict[str, Callable[..., Cache]] = {
    "memory and host": lambda path, **options: Cache(path, limit="4MiB", **options),
    "host alone": lambda path, **options: Cache(path, limit="4MiB", memory=False, **options),
    "shared objects": lambda path, **options: Cache(
        path, limit="4MiB", memory={"isolation": "none"}, **options
    ),
    "memory alone": lambda _, **options: Cache(**options),
}


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest, directory: Path) -> Iterator[Callable[..., Cache]]:
    """Makes a cache of some kind."""
    caches: list[Cache] = []

    def make(**options: Any) -> Cache:
        caches.append(KINDS[request.param](directory, **options))
        return caches[-1]

    yield make
    for cache in caches:
        if not cache.closed:
            assert cache.check().damaged == []
            cache.close()


def test_subscripts(made: Callable[..., Cache]) -> None:
    cache = made()
    cache["k"] = [1]
    cache[b"text"] = "by its bytes"
    for _ in range(3):
        assert (cache["k"], cache["text"]) == ([1], "by its bytes")
    del cache["k"]
    assert "k" not in cache and cache.stats().deletes == 1

    def delete(key: Any) -> None:
        del cache[key]

    for absent in (lambda: cache["k"], lambda: delete("k")):
        with pytest.raises(KeyError) as failure:
            absent()
        assert failure.value.args == ("k",)
    wrong: Any = 7
    with pytest.raises(InvalidKey):
        cache[wrong]
    with pytest.raises(InvalidKey):
        delete(wrong)
    if cache.path is not None:
        with pytest.raises(UnsupportedValue):
            cache["k"] = object()
    # A cache is not a mapping: nothing walks through it by numbers.
    with pytest.raises(TypeError, match="not iterable"):
        iter(cache)  # type: ignore[call-overload]
    cache.close()
    with pytest.raises(Closed):
        cache["k"]


def test_a_subscript_asks_a_clock_once(directory: Path) -> None:
    asked: list[int] = []

    def clock() -> int:
        asked.append(NOW)
        return NOW

    for memory in (True, False):
        with Cache(directory, limit="4MiB", clock=clock, memory=memory) as cache:
            cache["k"] = "v"
            for _ in range(3):
                asked.clear()
                assert cache["k"] == "v" and len(asked) == 1


def test_a_default_for_a_miss(made: Callable[..., Cache]) -> None:
    cache = made()
    for look in (cache.peek, cache.take):
        assert look("k") is None and look("k", 5) == 5 == look("k", default=5)
        cache.set("k", None)
        assert look("k", default=MISSING) is None
    assert "k" not in cache


def test_a_peek_leaves_no_trace_in_memory(directory: Path) -> None:
    with Cache(directory, limit="4MiB") as cache:
        cache.set("k", "v")
        assert cache.peek("k") == cache.peek("k") == "v"
        before = cache.stats()
        assert (before.hits, before.memory_hits, before.misses) == (0, 0, 0)
        # The host tier answers: memory was not filled.
        assert cache.get("k") == "v" and cache.stats().memory_hits == 0
        assert cache.get("k") == "v" and cache.stats().memory_hits == 1
        assert cache.peek("k") == "v" and cache.stats().memory_hits == 1


def test_of_many_threads_one_takes_it(made: Callable[..., Cache]) -> None:
    cache = made()
    for number in range(50):
        cache.set("k", number)
        taken = together(*[lambda: cache.take("k", MISSING)] * 4)
        assert taken.count(MISSING) == 3 and number in taken
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.deletes) == (50, 150, 50)


TAKES = """
import sys, polycache
cache = polycache.Cache(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
taken = [number for number in range(500) if cache.take(f"k{number}") is not None]
print(*taken, flush=True)
"""


def test_of_many_processes_one_takes_it(cache: Cache) -> None:
    for number in range(500):
        cache.set(f"k{number}", number)
    with python(TAKES, cache.path) as one, python(TAKES, cache.path) as other:
        for process in (one, other):
            assert answer(process) == "ready"
        for process in (one, other):
            tell(process)
        taken = [int(word) for process in (one, other) for word in answer(process).split()]
    assert sorted(taken) == list(range(500))
    assert list(cache.keys()) == []


@dataclass
class User:
    name: str


def test_what_cannot_be_decoded_stays(made: Callable[..., Cache]) -> None:
    def fail(_: str) -> User:
        raise ZeroDivisionError

    failing = Type(User, encode=lambda user: user.name, decode=fail)
    with made(types={"user": failing}) as cache:
        cache.set("k", User("Ada"))
        for look in (cache.peek, cache.entry, cache.take):
            with pytest.raises(WrongType, match="ZeroDivisionError"):
                look("k")
        assert cache.has("k") and cache.stats().deletes == 0
        # Nothing is decoded.
        assert cache.touch("k", ttl="1h")


def test_a_value_that_is_set_while_one_is_taken(made: Callable[..., Cache]) -> None:
    values: list[Any] = []

    def decode(name: str) -> User:
        if values:
            cache.set("k", values.pop())
        return User(name)

    cache = made(types={"user": Type(User, encode=lambda user: user.name, decode=decode)})
    cache.set("k", User("Ada"))
    values.append(User("Bea"))
    # What it gives is what it took out.
    assert cache.take("k") == User("Bea")
    assert cache.take("k") is None and cache.stats().deletes == 1


def test_values_of_registered_types(made: Callable[..., Cache]) -> None:
    with made(types={"user": User}) as cache:
        cache["k"] = [User("Ada")]
        entry = cache.entry("k")
        assert entry is not None and entry.value == cache.peek("k") == [User("Ada")]
        assert cache.take("k") == [User("Ada")]


def test_an_entry_tells_what_there_is(made: Callable[..., Cache], clock: Clock) -> None:
    with made(clock=clock) as cache:
        cache.set("k", {"a": 1}, ttl="10s")
        clock.now += 1000
        entry = cache.entry("k")
        assert entry is not None
        assert (entry.value, entry.ttl, entry.expires) == ({"a": 1}, 9, NOW + 10_000)
        if cache.path is None:
            assert (entry.created, entry.serializer, entry.compressor) == (None, None, None)
        else:
            told = (entry.created, entry.serializer, entry.compressor)
            assert told == (NOW, "messagepack", "none")
        assert entry.size is not None and entry.size > 0
        cache.set("k", 1)
        entry = cache.entry("k")
        assert entry is not None and (entry.ttl, entry.expires) == (float("inf"), None)
        assert cache.entry("absent") is None


def test_an_unweighed_entry_has_no_size() -> None:
    cache = Cache(memory={"max_bytes": None})
    cache["k"] = 1
    entry = cache.entry("k")
    assert entry is not None and entry.size is None


@pytest.mark.parametrize("ttl", ["1500ms", 1.5, timedelta(seconds=1.5)])
def test_a_touch_takes_a_ttl_in_each_form(
    made: Callable[..., Cache], clock: Clock, ttl: Any
) -> None:
    with made(clock=clock) as cache:
        cache.set("k", [1])
        assert cache.touch("k", ttl=ttl) and cache.ttl("k") == 1.5
        assert not cache.touch("absent", ttl=ttl)
        for wrong in (0, -1, "soon"):
            with pytest.raises(InvalidArgument):
                cache.touch("k", ttl=wrong)
        # It wins over nothing, and loads go on.
        assert cache.get_or_set("l", lambda: cache.touch("l") or "loaded") == "loaded"
        assert cache.get("l") == "loaded"


def test_a_clock_that_is_set_back_behind_a_touch(clock: Clock) -> None:
    cache = Cache(clock=clock)
    cache.set("k", 1, ttl="10s")
    clock.now += 5000
    assert cache.touch("k", ttl="10s")
    clock.now -= 5000
    # As over a directory: an entry from the future is not served.
    assert cache.get("k") is None


def test_a_prefix_is_deleted_for_every_reader(directory: Path) -> None:
    with Cache(directory, limit="4MiB") as cache, Cache(directory) as other:
        cache.set_many({f"user:{number}": number for number in range(1000)})
        cache.set("users", 1)
        for _ in range(2):
            assert cache.get("user:7") == other.get("user:7") == 7
        assert cache.delete_prefix("user:") == 1000
        assert cache.get("user:7") is other.get("user:7") is None
        assert list(other.keys()) == ["users"]


async def test_it_is_the_same_for_asyncio(made: Callable[..., Cache]) -> None:
    cache = made()
    shared = AsyncCache.over(cache)
    cache.set_many({"a": 1, "b": 2, "c": 3})
    assert await shared.peek("a") == 1 and await shared.peek("x", 9) == 9
    assert await shared.touch("a", ttl="1h") and 3590 < (await shared.ttl("a") or 0) <= 3600
    entry = await shared.entry("a")
    assert entry is not None and entry.value == 1
    assert await shared.take("a") == 1 and await shared.take("a", MISSING) is MISSING
    assert await shared.delete_prefix("") == 2
    with pytest.raises(TypeError):
        shared["a"]  # type: ignore[index]


def test_the_largest_value(directory: Path) -> None:
    with Cache(directory, limit="4MiB") as cache, Cache(directory, max_value="1KiB") as small:
        cache.set("k", "x" * 2000)
        for look in (small.get, small.peek, small.take):
            with pytest.raises(ValueTooLarge):
                look("k")
        with pytest.raises(ValueTooLarge):
            small.set("l", "x" * 2000)
        small.set("l", "x" * 1000)
        assert small.get("l") == "x" * 1000
        assert cache.get("k") == "x" * 2000


@pytest.mark.parametrize("value", ["many", -1, 1.5, True])
def test_max_value_out_of_range(directory: Path, value: Any) -> None:
    with pytest.raises(InvalidArgument):
        Cache(directory, max_value=value)
    assert not directory.exists()


MOST = 2**64 - 1
HALF = 2**63


@pytest.mark.parametrize("jitter", [0.5, "5s", 5, timedelta(seconds=5)])
def test_the_default_ttl_is_shortened(
    made: Callable[..., Cache], clock: Clock, jitter: Any
) -> None:
    options: Any = {"_random": [0, HALF, MOST]}
    with made(ttl="10s", jitter=jitter, clock=clock, **options) as cache:
        left = []
        for _ in range(3):
            cache.set("k", 1)
            left.append(cache.ttl("k"))
        assert left == [10, 7.5, 5]
        cache.set("k", 1, ttl="10s")
        assert cache.ttl("k") == 10
        cache.set("k", 1, ttl=None)
        assert cache.ttl("k") == float("inf")
        # In turn: 0 again.
        assert cache.touch("k") and cache.ttl("k") == 10
        assert cache.get_or_set("l", lambda: 1) == 1 and cache.ttl("l") == 7.5


def test_a_jitter_differs_by_itself(made: Callable[..., Cache], clock: Clock) -> None:
    with made(ttl="1h", jitter=0.5, clock=clock) as cache:
        cache.set_many({str(number): number for number in range(100)})
        left = {cache.ttl(key) or 0 for key in cache.keys()}  # noqa: SIM118
        assert len(left) > 50 and all(1800 <= one <= 3600 for one in left)


@pytest.mark.parametrize(
    "options",
    [
        {"jitter": 0.1},
        {"ttl": "10s", "jitter": "11s"},
        {"ttl": "10s", "jitter": 1},
        {"ttl": "10s", "jitter": 1.0},
        {"ttl": "10s", "jitter": -0.1},
        {"ttl": "10s", "jitter": float("nan")},
        {"ttl": "10s", "jitter": "often"},
        {"ttl": "10s", "jitter": True},
    ],
)
def test_jitters_out_of_range(made: Callable[..., Cache], options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        made(**options)


@pytest.mark.parametrize(
    ("jitter", "told"),
    [
        (1, 'jitter 1 may mean one second, or all of the ttl: write "1s"'),
        (11, "jitter is 11000 ms: write a part of the ttl, from 0 to below 1, or a duration"),
    ],
)
def test_what_is_wrong_with_a_jitter(made: Callable[..., Cache], jitter: int, told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        made(ttl="10s", jitter=jitter)


def test_what_is_refused_says_so_alike(directory: Path) -> None:
    wrong: dict[str, Any] = {"ttl": "10s", "jitter": "11s"}
    said = []
    for paths in ((directory,), ()):
        with pytest.raises(PolycacheError) as failure:
            Cache(*paths, **wrong)
        said.append(str(failure.value))
    assert said[0] == said[1]
