"""Stores beside the host tier: what all of them promise. Faults are in test_store_faults.py."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Clock
from helpers import answer, python, tell, together
from stores import SHARED, STORES, OwnStore, allocated

from polycache import (
    AsyncCache,
    Cache,
    ForeignDirectory,
    InvalidArgument,
    IoError,
    TooManyParticipants,
)
from polycache.stores import NAMES, Opening, Store, kind_of


@pytest.mark.parametrize("store", STORES)
def test_entries_stay_and_namespaces_nest(tmp_path: Path, store: Any) -> None:
    keys: list[str | bytes] = [
        "../x",
        "/etc/passwd",
        ".",
        "..",
        "a/b",
        "Größe",
        "%41",
        b"\x00\xff",
        "l" * 5000,
    ]
    with Cache(tmp_path, store=store) as cache:
        inner = cache.namespace("shop").namespace("a:b")
        for number, key in enumerate(keys):
            cache[key] = {"number": number}
            inner[key] = number
    with Cache(tmp_path, store=store) as cache:
        inner = cache.namespace("shop").namespace("a:b")
        assert [cache[key]["number"] for key in keys] == list(range(len(keys)))
        assert sorted(map(repr, cache.keys())) == sorted(map(repr, keys))
        assert sorted(map(repr, inner.keys())) == sorted(map(repr, keys))
        cache.namespace("shop").clear()
        assert (list(inner.keys()), len(list(cache.keys()))) == ([], len(keys))
        assert cache.delete_prefix(".") == 3
        assert cache.check().damaged == []
        cache.clear()
        assert cache.stats().entries == 0
    outside = {path.name for path in tmp_path.iterdir()}
    assert outside == {"data", "guards", "locks", "state", "store"}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("size", [100, 5_000, 300_000])
def test_du_confirms_the_limit(tmp_path: Path, store: Any, size: int) -> None:
    if store == "dbm.ndbm":
        pytest.skip("its file cannot be made smaller; docs/stores.md says so")
    if store == "dbm.gnu" and size < 5_000:
        pytest.skip("it takes minutes: gdbm writes two pages for each entry")
    limit = 16 << 20
    most = 0
    with Cache(tmp_path, store=store, limit=limit, serializer="bytes") as cache:
        written = 0
        number = 0
        while written < 3 * limit and number < 20_000:
            # Bytes that cannot be compressed, of about this size.
            value = os.urandom(size + number * 7919 % size)
            cache[f"k{number % 15_000}"] = value
            written += len(value)
            number += 1
            if number % 500 == 0:
                most = max(most, allocated(tmp_path))
        assert cache[f"k{(number - 1) % 15_000}"] == value
        stats = cache.stats()
        assert stats.limit == limit
        kept = stats.entries * size
    assert max(most, allocated(tmp_path)) <= limit
    if written > limit:
        assert stats.evicted_by_age > 0
        assert kept > limit / 8, kept
    with Cache(tmp_path, store=store) as again:
        assert again.stats().limit == limit
        assert abs(again.stats().bytes - stats.bytes) <= stats.bytes / 2


def written(pattern: str) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(7)
    for number in range(12_000):
        if pattern == "keys in no order":
            yield f"{chance.getrandbits(64):x}", chance.randbytes(200)
        elif pattern == "ascending keys":
            yield f"{number:06}", chance.randbytes(300)
        else:
            size = chance.choice((50, 900, 6000)) if number > 4000 else 50
            yield f"{chance.randrange(1500)}", chance.randbytes(size)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("pattern", ["keys in no order", "ascending keys", "sizes that change"])
def test_du_confirms_the_limit_whatever_is_written(
    tmp_path: Path, store: Any, pattern: str
) -> None:
    if store == "dbm.ndbm":
        pytest.skip("its file cannot be made smaller; docs/stores.md says so")
    with Cache(tmp_path, store=store, limit="4MiB", serializer="bytes") as cache:
        for number, (key, value) in enumerate(written(pattern)):
            cache[key] = value
            if number % 50 == 0:
                # What is read often stays where the rest goes.
                cache.get("000050")
            if number % 400 == 0:
                assert allocated(tmp_path) <= 4 << 20, number
        assert cache[key] == value
        assert cache.check().damaged == []
    assert allocated(tmp_path) <= 4 << 20


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("size", [1000, 1350, 1960])
def test_pages_that_are_not_full_count(tmp_path: Path, store: Any, size: int) -> None:
    """Values of which one, two or three fill a page, in a cache that is hardly larger than what
    is written before its size is known: it evicts in time, and everything can be deleted."""
    keys = [f"k{number:06}" for number in range(4_000_000 // size)]
    with Cache(tmp_path, store=store, limit="4MiB", serializer="bytes") as cache:
        for _ in range(2):
            for key in keys:
                cache[key] = os.urandom(size)
                assert key in cache
        if store != "dbm.ndbm":
            assert allocated(tmp_path) <= 4 << 20
        for key in keys:
            cache.delete(key)
        assert cache.stats().entries == 0


@pytest.mark.parametrize("store", STORES)
def test_what_is_read_stays(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store, limit="8MiB", serializer="bytes") as cache:
        cache["read"] = b"value"
        for number in range(3_000):
            cache[f"k{number}"] = os.urandom(10_000)
            assert cache.get("read") == b"value", number


@pytest.mark.parametrize("store", STORES)
def test_a_clock_set_back_revives_nothing(tmp_path: Path, store: Any, clock: Clock) -> None:
    with Cache(tmp_path, store=store, clock=clock) as cache:
        cache.set("k", "v", ttl=10)
        clock.now -= 60_000
        assert cache.get("k") is None
        clock.now += 60_000
        assert cache.get("k") == "v"
        clock.now += 10_000
        assert cache.get("k") is None


@pytest.mark.parametrize("store", STORES)
def test_a_delete_tells_whether_a_read_was_served(tmp_path: Path, store: Any, clock: Clock) -> None:
    with Cache(tmp_path, store=store, clock=clock) as cache:
        for key in ("there", "l" * 5000):
            cache[key] = b"value"
        cache["large"] = bytes(300_000)
        cache.set("expired", 1, ttl=1)
        clock.now += 1000
        assert cache.delete("expired") is False
        for key in ("there", "l" * 5000, "large"):
            assert [cache.delete(key), cache.delete(key)] == [True, False], key
        assert (list(cache.keys()), cache.stats().entries) == ([], 0)


@pytest.mark.parametrize("store", STORES)
def test_threads_lose_no_addition_and_one_of_them_loads(tmp_path: Path, store: Any) -> None:
    loads: list[int] = []
    with Cache(tmp_path, store=store) as one, Cache(tmp_path, store=store) as other:

        def work(cache: Cache) -> int:
            for _ in range(100):
                cache.increment("n")
            return cache.get_or_set("loaded", lambda: loads.append(1) or 7)  # type: ignore[func-returns-value]

        assert together(*[lambda c=c: work(c) for c in (one, other) * 3]) == [7] * 6
        assert (one["n"], len(loads)) == (600, 1)


OTHER = """
import sys, polycache
cache = polycache.Cache(sys.argv[1], store=sys.argv[2])
print("open", flush=True)
sys.stdin.readline()
for _ in range(300):
    cache.increment("n")
print(cache["n"], flush=True)
def loader():
    print("loads", flush=True)
    return sys.stdin.readline().strip()
print(cache.get_or_set("k", loader), flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("store", SHARED)
def test_processes_lose_no_addition_and_one_of_them_loads(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store) as cache, python(OTHER, tmp_path, store) as other:
        assert answer(other) == "open"
        tell(other)
        for _ in range(300):
            cache.increment("n")
        assert int(answer(other)) >= 300
        assert cache["n"] == 600
        assert answer(other) == "loads"
        tell(other, "value")
        assert cache.get_or_set("k", lambda: "mine") == "value"
        assert answer(other) == "value"
        tell(other)


@pytest.mark.parametrize("store", SHARED)
def test_a_load_whose_process_is_killed_is_the_next_one_s(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store) as cache, python(OTHER, tmp_path, store) as other:
        tell(other)
        assert [answer(other) for _ in range(3)][2] == "loads"
        other.kill()
        other.wait()
        assert cache.get_or_set("k", lambda: "mine") == "mine"


@pytest.mark.parametrize("store", STORES)
def test_a_store_for_one_process_says_so(tmp_path: Path, store: Any) -> None:
    if kind_of(store, None).is_shared:  # type: ignore[union-attr]
        pytest.skip("it is for several")
    with python(OTHER, tmp_path, store) as other:
        assert answer(other) == "open"
        with pytest.raises(TooManyParticipants, match="admits one process"):
            Cache(tmp_path, store=store)
    with Cache(tmp_path, store=store) as cache:
        cache["k"] = "v"
        assert cache["k"] == "v"


@pytest.mark.parametrize("store", SHARED)
def test_a_forked_child_goes_on(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store) as cache:
        cache["k"] = "parent"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                assert cache["k"] == "parent"
                cache["k"] = "child"
                cache.increment("n")
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert (cache["k"], cache.increment("n")) == ("child", 2)


async def test_asyncio_waits_beside_the_loop(tmp_path: Path) -> None:
    async with AsyncCache(tmp_path, store="files") as cache:
        await asyncio.gather(*[cache.set(f"k{number}", number) for number in range(20)])
        assert await cache.get("k7") == 7

        async def load() -> int:
            return 8

        assert await asyncio.gather(*[cache.get_or_set("k", load) for _ in range(5)]) == [8] * 5


def test_a_store_of_one_s_own(tmp_path: Path) -> None:
    with Cache(tmp_path, store=OwnStore, limit="4MiB") as cache:
        cache["k"] = [1, 2]
        assert cache.get_or_set("loaded", lambda: 7) == 7
        assert cache.increment("n") == 1
    with Cache(tmp_path, store=OwnStore) as cache:
        assert (cache["k"], sorted(cache.keys(), key=str)) == ([1, 2], ["k", "loaded", "n"])
        cache.clear()
        assert list(cache.keys()) == []


class Failing(OwnStore):
    error: BaseException = OSError(5, "the disk is gone")
    calls: Any = None

    def put(self, key: bytes, value: bytes) -> None:
        if self.calls is not None:
            type(self).calls, call = None, self.calls
            call()
        raise self.error


def test_a_store_s_error_is_the_cause_and_an_interrupt_its_caller_s(tmp_path: Path) -> None:
    with Cache(tmp_path, store=Failing) as cache:
        with pytest.raises(IoError, match="the disk is gone") as failed:
            cache["k"] = 1
        assert failed.value.__cause__ is Failing.error
        Failing.error = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            cache["k"] = 1
        refused: list[Exception] = []

        def use() -> None:
            try:
                cache["other"] = 1
            except InvalidArgument as error:
                refused.append(error)

        # As an object's `__del__` would, or a signal's handler.
        Failing.calls = staticmethod(use)
        with pytest.raises(KeyboardInterrupt):
            cache["k"] = 1
        assert "cannot change the cache" in str(refused[0])


def test_options_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    wrong: list[dict[str, Any]] = [
        {"store": "redis"},
        {"store": 7},
        {"store": dict},
        {"store": "files", "durability": "none"},
        {"store": "files", "durability": "always"},
        {"store": "host", "durability": "synced"},
        {"durability": "none"},
        {"store": "files", "limit": "3MiB"},
        {"store": "files", "memory": {"max_entries": 5}},
        {"store": "files", "remote": "redis://127.0.0.1:1"},
    ]
    for options in wrong:
        with pytest.raises(InvalidArgument):
            Cache(path, **options)
        assert not path.exists(), options
    with pytest.raises(InvalidArgument, match="needs a path"):
        Cache(store="files")
    with Cache(path, store="host", durability="kill") as cache:
        cache["k"] = 1


def test_a_directory_stays_with_its_store(tmp_path: Path) -> None:
    Cache(tmp_path / "files", store="files").close()
    Cache(tmp_path / "host").close()
    for path, store in [("files", "lmdb"), ("files", "host"), ("host", "files")]:
        with pytest.raises(ForeignDirectory):
            Cache(tmp_path / path, store=store)  # type: ignore[arg-type]
    with Cache(tmp_path / "files", store="files"), pytest.raises(InvalidArgument):
        Cache(tmp_path / "files", store="files", durability="synced")


def test_libraries_are_imported_when_they_are_asked_for() -> None:
    program = """
import sys
sys.modules["lmdb"] = sys.modules["rocksdict"] = None
import polycache
assert not {"sqlite3", "dbm.gnu"} & sys.modules.keys()
for store in ("lmdb", "rocksdb"):
    try:
        polycache.Cache(sys.argv[1], store=store)
    except polycache.InvalidArgument as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, "x"], capture_output=True, text=True, check=True
    )
    for package, store in [("lmdb", "lmdb"), ("rocksdict", "rocksdb")]:
        assert f'needs the package {package}: pip install "polycache[{store}]"' in done.stdout


@pytest.mark.parametrize("store", STORES)
def test_capabilities(store: Any) -> None:
    kind = kind_of(store, None)
    assert kind is not None
    assert kind.durability == kind.given.durabilities[0]
    assert kind.max_key >= 64
    assert issubclass(kind.given, Store)
    assert NAMES[kind.name if kind.name in NAMES else "dbm"]
    for durability in kind.given.durabilities:
        assert kind_of(store, durability).durability == durability  # type: ignore[union-attr]
    assert Opening.__dataclass_params__.frozen  # type: ignore[attr-defined]
