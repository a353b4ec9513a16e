"""The memory tier over the host tier: what a read finds is what the directory has."""

import gc
import os
import weakref
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from conftest import Clock
from helpers import answer, python, tell, together

from polycache import MISSING, AsyncCache, Cache, Closed, InvalidArgument

LIMIT = "4MiB"


def memory_hits(cache: Cache) -> int:
    stats = cache.stats()
    assert stats.memory_hits <= stats.hits
    return stats.memory_hits


@pytest.mark.parametrize("value", ["text", b"bytes", 7, 1.5, None, Decimal("1.5"), UUID(int=3)])
def test_what_cannot_change_is_given_out_itself(cache: Cache, value: Any) -> None:
    cache.set("k", value)
    read = cache.get("k")
    assert read == value and memory_hits(cache) == 0
    assert cache.get("k") is read and cache.get_or_set("k", dict) is read
    assert cache.get_many(["k"])["k"] is read
    assert memory_hits(cache) == 3 and cache.stats().hits == 4


@pytest.mark.parametrize("value", [[1], {"a": [1]}, {1, 2}])
def test_what_can_change_is_each_reader_s_own(cache: Cache, value: Any) -> None:
    cache.set("k", value)
    for _ in range(3):
        read = cache.get("k")
        assert read == value
        read.clear()
    assert memory_hits(cache) == 0


def test_without_isolation_everything_is_shared(directory: Path) -> None:
    with Cache(directory, limit=LIMIT, memory={"isolation": "none"}) as cache:
        cache.set("k", [1])
        read = cache.get("k")
        assert cache.get("k") is read
        cache.set("k", [2])
        assert cache.get("k") == [2] and read == [1]


def test_a_write_is_seen_by_every_handle(directory: Path) -> None:
    with Cache(directory, limit=LIMIT) as one, Cache(directory) as other:
        changes: list[tuple[Callable[[], object], object]] = [
            (lambda: other.set("k", "new"), "new"),
            (lambda: other.set("k", "newer"), "newer"),
            (lambda: other.delete("k"), MISSING),
            (lambda: other.get_or_set("k", lambda: "loaded"), "loaded"),
            (lambda: other.clear(), MISSING),
            (lambda: one.set("k", "own"), "own"),
            (lambda: one.delete("k"), MISSING),
        ]
        for change, found in changes:
            one.get("k")
            one.get("k")
            change()
            assert one.get("k", MISSING) == found == one.get("k", MISSING)
        assert one.stats().memory_hits > 0


WRITER = """
import sys, polycache
cache = polycache.Cache(sys.argv[1])
for line in sys.stdin:
    cache.set("k", line.strip())
    print("written", flush=True)
"""


def test_a_write_of_another_process_is_seen(cache: Cache) -> None:
    cache.set("k", "first")
    with python(WRITER, cache.path) as writer:
        for number in range(200):
            assert cache.get("k") == cache.get("k")
            tell(writer, str(number))
            assert answer(writer) == "written"
            assert cache.get("k") == str(number)
    # Each of the writes was read three times, all but the last.
    assert memory_hits(cache) == 2 * 200 - 1


def test_clearing_a_namespace_is_seen(directory: Path) -> None:
    with Cache(directory, limit=LIMIT) as one, Cache(directory, namespace="a") as other:
        nested = one.namespace("a")
        for cache in (one, nested):
            cache.set("k", "v")
            assert cache.get("k") == cache.get("k") == "v"
        other.clear()
        assert (one.get("k"), nested.get("k")) == ("v", None)


def test_namespaces_have_keys_of_their_own(cache: Cache) -> None:
    parts = ["a", "b", "a.b", "ab"]
    for part in parts:
        nested = cache.namespace(part)
        nested.namespace("c").set("k", part + "/c")
        nested.set("k", part)
    for _ in range(3):
        for part in parts:
            nested = cache.namespace(part)
            assert nested.get("k") == nested.get("k") == part
            assert nested.namespace("c").get("k") == part + "/c"
    assert cache.get("k") is None
    assert memory_hits(cache) > 0


def test_text_and_its_bytes_are_one_key(cache: Cache) -> None:
    cache.set("é", "v")
    for key in ("é", "é".encode()) * 2:
        assert cache.get(key) == "v"
    cache.set("é".encode(), "w")
    for key in ("é", "é".encode()) * 2:
        assert cache.get(key) == "w"


def test_the_time_to_live(directory: Path, clock: Clock) -> None:
    with Cache(directory, limit=LIMIT, clock=clock) as cache:
        cache.set("k", "v", ttl="1s")
        cache.set("forever", "v")
        assert cache.get("k") == cache.get("k") == "v"
        clock.now += 999
        assert cache.get("k") == "v"
        clock.now += 1
        assert cache.get("k") is None
        cache.set("k", "v", ttl="1s")
        cache.get("k"), cache.get("forever")
        clock.now -= 1001
        # A clock that stands before the entry was written: it is not served.
        assert cache.get("k") is None
        assert cache.get("forever") == "v"


def test_it_is_bounded(directory: Path) -> None:
    memory = {"max_entries": 10, "max_bytes": "64KiB"}
    with Cache(directory, limit="64MiB", memory=memory) as cache:  # type: ignore[arg-type]
        for number in range(100):
            cache.set(str(number), str(number) * 100)
        for _ in range(2):
            for number in range(100):
                assert cache.get(str(number)) == str(number) * 100
        assert memory_hits(cache) <= 20
        cache.set("large", "x" * 50_000)
        assert cache.get("large") == cache.get("large")
        before = memory_hits(cache)
        cache.set("too large", b"x" * 100_000)
        assert cache.get("too large") == cache.get("too large")
        assert memory_hits(cache) == before


def test_without_it(directory: Path) -> None:
    with Cache(directory, limit=LIMIT, memory=False) as cache:
        cache.set("k", "v" * 100)
        assert cache.get("k") == cache.get("k")
        assert cache.get("k") is not cache.get("k")
        assert memory_hits(cache) == 0


@pytest.mark.parametrize(
    "memory",
    [
        1,
        "64MiB",
        {"max_entries": 0},
        {"max_entries": 2**24 + 1},
        {"max_entries": "many"},
        {"max_bytes": 0},
        {"max_bytes": -1},
        {"policy": "lfu"},
        {"isolation": "freeze"},
        {"ttl": 1},
    ],
)
def test_options_out_of_range(directory: Path, memory: Any) -> None:
    with pytest.raises(InvalidArgument):
        Cache(directory, memory=memory)
    assert not directory.exists()


def test_a_closed_cache_gives_nothing(directory: Path) -> None:
    cache = Cache(directory, limit=LIMIT)
    nested = cache.namespace("a")
    for one in (cache, nested):
        one.set("k", "v")
        one.get("k"), one.get("k")
    cache.close()
    for one in (cache, nested):
        with pytest.raises(Closed):
            one.get("k")


async def test_asyncio_has_it(cache: Cache) -> None:
    over = AsyncCache.over(cache)
    await over.set("k", "v" * 100)
    assert await over.get("k") is await over.get("k")
    assert (await over.stats()).memory_hits == 1


def test_a_forked_child_has_it(cache: Cache) -> None:
    cache.set("k", "parent")
    assert cache.get("k") == cache.get("k")
    child = os.fork()
    if child == 0:
        try:
            same = cache.get("k") == "parent"
            cache.set("k", "child")
            same = same and cache.get("k") == cache.get("k") == "child"
            os._exit(0 if same else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert cache.get("k") == cache.get("k") == "child"


def test_entries_that_are_read_here_only_stay_in_the_directory(directory: Path) -> None:
    with Cache(directory, limit="2MiB") as cache:
        cache.set("hot", "v" * 100)
        for number in range(4000):
            cache.set(f"cold{number}", b"x" * 2000)
            for _ in range(20):
                assert cache.get("hot") == "v" * 100
        assert cache.stats().evicted_by_age > 0


def test_threads_read_what_was_written_last(directory: Path) -> None:
    with Cache(directory, limit=LIMIT) as cache, Cache(directory) as other:
        written = [0] * 8
        cache.set_many({str(key): "0" for key in range(8)})

        def write(writer: Cache, keys: range) -> None:
            for number in range(1, 2000):
                for key in keys:
                    writer.set(str(key), str(number))
                    written[key] = number

        def read() -> None:
            for number in range(20000):
                key = number % 8
                least = written[key]
                assert int(cache.get(str(key))) >= least

        together(lambda: write(cache, range(4)), lambda: write(other, range(4, 8)), read, read)


def test_cycles_through_shared_objects_are_collected(directory: Path) -> None:
    class Watched(Cache):
        pass

    cache = Watched(directory, limit=LIMIT, memory={"isolation": "none"})
    cache.set("k", {"list": []})
    cache.get("k")["list"].append(cache)
    assert cache.get("k")["list"]
    gone = weakref.ref(cache)
    del cache
    gc.collect()
    assert gone() is None


def test_hits_keep_entries_in_the_directory(directory: Path) -> None:
    """Keys that compete for a full bucket take what is not marked visited, and hits mark."""
    with Cache(directory, limit="2MiB") as cache:
        hot, cold = ([f"{name} {number}" for number in range(100)] for name in ("hot", "cold"))
        for key in hot + cold:
            cache.set(key, "")
            assert cache.get(key) == ""
        # They fill the smallest index a few times over, and not yet its blocks.
        for number in range(30_000):
            cache.set(f"filler {number}", "")
            # An odd number each round: so each of them is in turn the one hit in 16 that looks.
            if number % 4 == 0:
                for key in hot:
                    cache.get(key)
                cache.get(hot[number // 4 % 100])

        def there(keys: list[str]) -> int:
            return sum(map(cache.has, keys))

        assert there(hot) > 50
        assert there(cold) < 50
