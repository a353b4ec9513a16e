"""Faults on real files, for each store: kills, full disks, changed bytes, folders that go."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import answer, python, until
from stores import SHARED, STORES, allocated

from polycache import Cache, NoSpace, PolycacheError, ReadOnly

WRITER = """
import sys, polycache
cache = polycache.Cache(sys.argv[1], store=sys.argv[2], durability=sys.argv[3], limit="64MiB")
first = int(sys.argv[4])
for number in range(first, first + 1_000_000):
    cache[f"k{number % 500}"] = [number, "x" * (number * 7919 % 3000)]
    print(number, flush=True)
"""


def killed_after(count: int, *arguments: Any) -> int:
    """The last number that a writer acknowledged before it was killed."""
    with python(WRITER, *arguments) as writer:
        for _ in range(count):
            last = int(answer(writer))
        writer.kill()
        assert writer.stdout
        # Those that it acknowledged before the kill came.
        for line in writer.stdout.read().split("\n")[:-1]:
            last = int(line)
    return last


def check_whole(cache: Cache, first: int, last: int, name: str) -> None:
    assert cache.check().damaged == []
    for number in range(max(first, last - 499), last + 1):
        found = cache.get(f"k{number % 500}")
        # The next write may have been done when the kill came.
        assert found is not None and found[0] in (number, last + 1), (name, number, last)


@pytest.mark.parametrize("store", STORES)
def test_what_was_acknowledged_survives_kills(tmp_path: Path, store: Any) -> None:
    from polycache.stores import kind_of

    kind = kind_of(store, None)
    assert kind is not None
    chance = random.Random(7)
    for durability in kind.given.durabilities:
        path = tmp_path / durability
        first = 0
        for _ in range(4):
            last = killed_after(chance.randrange(1, 700), path, store, durability, first)
            with Cache(path, store=store, durability=durability) as cache:
                if durability == "none":
                    assert cache.check().damaged == []
                    cache["k"] = "goes on"
                else:
                    check_whole(cache, first, last, durability)
            first = last + 2


@pytest.mark.parametrize("store", SHARED)
def test_a_kill_harms_no_other_process(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store, limit="64MiB") as cache:
        first = 0
        for _ in range(3):
            last = killed_after(300, tmp_path, store, "kill", first)
            # Without opening it anew.
            check_whole(cache, first, last, store)
            cache["mine"] = last
            assert cache["mine"] == last
            first = last + 2


OPENER = """
import sys, polycache
print("opens", flush=True)
polycache.Cache(sys.argv[1], store=sys.argv[2])
print("opened", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("store", STORES)
def test_a_kill_while_it_recovers(tmp_path: Path, store: Any) -> None:
    durability = "kill" if store in ("lmdb", "files", "dbm", "rocksdb") else "none"
    last = killed_after(400, tmp_path, store, durability, 0)
    chance = random.Random(11)
    for _ in range(6):
        with python(OPENER, tmp_path, store) as opener:
            assert answer(opener) == "opens"
            for _ in range(chance.randrange(0, 400)):
                os.sched_yield()
            opener.kill()
    with Cache(tmp_path, store=store) as cache:
        if durability == "kill":
            check_whole(cache, 0, last, store)
        assert cache.check().damaged == []


def test_after_a_power_loss_what_was_not_on_the_disk_is_not_believed(tmp_path: Path) -> None:
    for store in ("lmdb", "dbm", "files"):
        for durability, stays in (("kill", False), ("synced", True)):
            path = tmp_path / store / durability
            killed_after(50, path, store, durability, 0)
            # The boot that the state tells of was another one.
            state = bytearray((path / "state").read_bytes())
            assert state[4 * 8] == 0, "it was closed"
            state[5 * 8 : 6 * 8] = b"anyother"
            (path / "state").write_bytes(state)
            with Cache(path, store=store, durability=durability) as cache:  # type: ignore[arg-type]
                assert (cache.stats().entries > 0) is stays, (store, durability)
                cache["k"] = 1
                assert cache["k"] == 1


FULL = """
import os, resource, sys, polycache
cache = polycache.Cache(sys.argv[1], store=sys.argv[2], limit="64MiB", serializer="bytes")
cache["first"] = b"value"
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
stored = failed = 0
for number in range(3000):
    value = os.urandom(4000)
    try:
        cache[f"k{number}"] = value
    except polycache.NoSpace:
        failed += 1
        assert cache.get(f"k{number}") is None
    except polycache.IoError as error:
        failed += 1
        print("error:", error, file=sys.stderr)
    else:
        stored += 1
        assert cache[f"k{number}"] == value
assert stored > 100, (stored, failed)
print(stored, failed, flush=True)
"""


@pytest.mark.parametrize("store", STORES)
def test_files_that_may_not_grow(tmp_path: Path, store: Any) -> None:
    program = [sys.executable, "-c", FULL, str(tmp_path), store]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    with Cache(tmp_path, store=store) as cache:
        assert cache.check().damaged == []
        cache["k"] = b"v"
        assert cache["k"] == b"v"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    at = tmp_path / "disk"
    at.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "none", at], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a small disk needs root")
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=True)


@pytest.mark.parametrize("store", STORES)
def test_a_full_disk(small_disk: Path, store: Any) -> None:
    with Cache(small_disk / "cache", store=store, limit="64MiB", serializer="bytes") as cache:
        for number in range(4000):
            value = os.urandom(4000)
            try:
                cache[f"k{number}"] = value
            except PolycacheError as error:
                assert type(error).__name__ in ("NoSpace", "IoError"), error
                assert cache.get(f"k{number}") is None
            else:
                assert cache[f"k{number}"] == value
        assert cache.check().damaged == []
    assert allocated(small_disk) <= 8 << 20


@pytest.mark.parametrize("store", STORES)
def test_changed_bytes_are_never_another_value(tmp_path: Path, store: Any) -> None:
    chance = random.Random(5)
    values = {f"k{number}": chance.randbytes(2000) for number in range(60)}
    first = tmp_path / "first"
    with Cache(first, store=store, serializer="bytes") as cache:
        cache.set_many(values)
    found = {"right": 0, "miss": 0, "error": 0}
    for attempt in range(25):
        path = tmp_path / f"copy{attempt}"
        shutil.copytree(first, path)
        files = [file for file in (path / "data").rglob("*") if file.is_file()]
        holding = [
            (file, at)
            for file in files
            for value in values.values()
            if (at := file.read_bytes().find(value[100:116])) >= 0
        ]
        for file, at in chance.sample(holding, min(5, len(holding))):
            flipped = bytearray(file.read_bytes())
            flipped[at + chance.randrange(0, 1800)] ^= 1 << chance.randrange(8)
            file.write_bytes(flipped)
        try:
            cache = Cache(path, store=store, serializer="bytes")
        except PolycacheError:
            found["error"] += 1
            continue
        with cache:
            for key, value in values.items():
                try:
                    read = cache.get(key)
                except PolycacheError:
                    found["error"] += 1
                    continue
                assert read is None or read == value, key
                found["miss" if read is None else "right"] += 1
            # A write puts right what it replaces.
            cache["new"] = b"value"
            assert cache["new"] == b"value"
    assert found["right"] > 0 and found["error"] + found["miss"] > 0, found


@pytest.mark.parametrize("store", STORES)
def test_a_file_of_garbage_is_made_anew_or_an_error(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store) as cache:
        cache["k"] = "v"
    for file in (tmp_path / "data").rglob("*"):
        if file.is_file():
            file.write_bytes(b"garbage" * 1000)
    try:
        with Cache(tmp_path, store=store) as cache:
            try:
                assert cache.get("k") is None
            except PolycacheError:
                cache.delete("k")
            cache["k"] = "new"
            assert cache["k"] == "new"
    except PolycacheError as error:
        assert store == "rocksdb", error


@pytest.mark.parametrize("store", STORES)
def test_a_folder_that_goes(tmp_path: Path, store: Any) -> None:
    path = tmp_path / "cache"
    cache = Cache(path, store=store)
    cache["k"] = "v"
    shutil.rmtree(path)

    def fails() -> bool:
        try:
            cache["k"] = "new"
            assert cache.get("k") in ("new", None)
        except PolycacheError:
            return True
        return False

    until(fails)
    cache.close()
    with Cache(path, store=store) as again:
        assert again.get("k") is None
        again["k"] = "again"
        assert again["k"] == "again"


@pytest.mark.parametrize("store", STORES)
def test_a_folder_that_goes_and_is_made_anew_in_one_process(tmp_path: Path, store: Any) -> None:
    path = tmp_path / "cache"
    old = Cache(path, store=store)
    old["a"] = "removed"
    shutil.rmtree(path)
    new = Cache(path, store=store)
    new["b"] = 2
    assert new.get("a") is None
    for call in (lambda: old.get("a"), lambda: old.set("c", 3), lambda: list(old.keys())):
        with pytest.raises(PolycacheError, match="was removed or replaced"):
            call()
    old.close()
    assert new.get("b") == 2
    new.close()
    with Cache(path, store=store) as again:
        assert again.get("b") == 2
        assert sorted(again.keys()) == ["b"]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    path, at = tmp_path / "cache", tmp_path / "mount"
    path.mkdir()
    at.mkdir()
    if subprocess.run(["mount", "--bind", path, at], capture_output=True).returncode:
        pytest.skip("a read-only mount needs root")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", at], check=True)
        yield path, at
    finally:
        subprocess.run(["umount", "-l", at], check=True)


@pytest.mark.parametrize("store", STORES)
def test_a_folder_that_may_only_be_read(read_only: tuple[Path, Path], store: Any) -> None:
    path, at = read_only
    with Cache(path, store=store) as cache:
        cache["k"] = "v"
    if store == "rocksdb":
        with pytest.raises(ReadOnly):
            Cache(at, store=store)
        return
    with Cache(at, store=store) as cache:
        assert cache["k"] == "v"
        assert list(cache.keys()) == ["k"]
        assert cache.get_or_set("other", lambda: 7) == 7
        assert cache.get("other") is None
        for write in (
            lambda: cache.set("k", 1),
            lambda: cache.delete("k"),
            cache.clear,
            lambda: cache.add("new", 1),
        ):
            with pytest.raises(ReadOnly):
                write()
        assert cache["k"] == "v"


def test_no_space_says_so(small_disk: Path) -> None:
    with Cache(small_disk / "cache", store="files", limit="64MiB", serializer="bytes") as cache:
        with pytest.raises(NoSpace):
            cache["k"] = os.urandom(12 << 20)
        assert cache.get("k") is None
        cache["k"] = b"v"
        assert cache["k"] == b"v"
