"""A small disk, and transactions that are larger than the directory may be."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from both import SECRET

import polycache
import polycache.diskcache as diskcache

MIB = 2**20


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


@pytest.mark.parametrize("size", [100, 3000, 100_000])
@pytest.mark.parametrize("policy", ["none", "least-recently-stored"])
def test_nothing_is_lost_in_silence_on_a_full_disk(
    policy: str, size: int, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polycache.diskcache.handle.limit_of_store", lambda _: 64 * MIB)
    cache = diskcache.Cache(small_disk / "cache", eviction_policy=policy, pickle_secret=SECRET)
    written: dict[int, Any] = {}
    refused = 0
    for number in range(20 * MIB // (size + 600)):
        value = (number, b"x" * size)
        try:
            cache[number] = value
        except polycache.NoSpace:
            refused += 1
            assert number not in cache
            if refused == 100:
                break
        else:
            written[number] = value
            assert cache[number] == value
    assert (refused > 0) == (policy == "none")
    kept = list(cache)
    assert len(kept) == len(cache) and len(cache) * (size + 600) > MIB
    assert cache.check() == []
    if policy == "none":
        assert kept == list(written)
    assert all(cache[key] == written[key] for key in kept)
    # What makes room is not refused, and then there is some.
    for key in kept[: len(kept) // 2]:
        del cache[key]
    cache["after"] = "x" * size
    assert cache["after"] == "x" * size and cache.check() == []


def test_a_transaction_on_a_full_disk_is_whole_or_not_there(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polycache.diskcache.handle.limit_of_store", lambda _: 64 * MIB)
    cache = diskcache.Cache(small_disk / "cache", eviction_policy="none")
    cache["kept"] = "x" * 5000
    for number in range(1000):
        try:
            with cache.transact():
                for part in range(5):
                    cache[number, part] = bytes([part]) * 4000
        except polycache.NoSpace:
            break
    else:
        pytest.fail("the disk never was full")
    assert all((number, part) not in cache for part in range(5))
    assert len(cache) == 1 + 5 * number and cache["kept"] == "x" * 5000
    for earlier in range(number):
        assert [cache[earlier, part][0] for part in range(5)] == [0, 1, 2, 3, 4]
    assert cache.check() == []


def test_a_disk_that_is_too_small_is_told(small_disk: Path) -> None:
    (small_disk / "others").write_bytes(b"x" * 7 * MIB)
    with pytest.raises(polycache.NoSpace):
        diskcache.Cache(small_disk / "cache", eviction_policy="none")["k"] = 1


@pytest.fixture
def disk_of_64_mib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the system says of it; it refuses nothing."""

    def told(_: Any) -> SimpleNamespace:
        used = sum(
            os.stat(os.path.join(path, name)).st_blocks * 512
            for path, _, names in os.walk(tmp_path)
            for name in names
        )
        return SimpleNamespace(f_bavail=max(64 * MIB - used, 0), f_frsize=1)

    monkeypatch.setattr(os, "statvfs", told)
    return tmp_path


def test_a_small_disk_is_used(disk_of_64_mib: Path) -> None:
    deque: diskcache.Deque[int] = diskcache.Deque([1, 2], disk_of_64_mib / "deque")
    deque.append(3)
    cache = diskcache.FanoutCache(disk_of_64_mib / "fanout", eviction_policy="none")
    cache.index("x").update(a=1)
    cache.deque("y").extend("yz")
    diskcache.Cache(disk_of_64_mib / "cache", cull_limit=0)["k"] = 1
    diskcache.Cache(disk_of_64_mib / "large", size_limit=2**36)["k"] = 1
    assert list(deque) == [1, 2, 3] and list(cache.deque("y")) == ["y", "z"]
    index: diskcache.Index[int, bytes] = diskcache.Index(str(disk_of_64_mib / "index"))
    with pytest.raises(polycache.NoSpace):
        for number in range(100):
            index[number] = bytes([number]) * MIB
    assert len(index) > 20 and list(index) == list(range(len(index)))
    assert all(index[number] == bytes([number]) * MIB for number in index)
    stats = index.cache._opened()._host.stats()
    assert stats.evicted_by_age == stats.evicted_by_conflict == 0
    # What was larger already stays so.
    assert diskcache.Index(str(disk_of_64_mib / "index")).cache._opened().limit == stats.limit


@pytest.mark.parametrize("size", [1500, 2100, 33_000, 70_000, 140_000, 1_000_000])
@pytest.mark.parametrize("policy", ["none", "least-recently-stored"])
def test_values_of_awkward_sizes_are_not_lost(
    policy: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polycache.diskcache.handle.limit_of_store", lambda _: 8 * MIB)
    cache = diskcache.Cache(tmp_path, size_limit=8 * MIB, eviction_policy=policy)
    full = False
    for number in range(32 * MIB // size):
        try:
            # Older ones are replaced, so that what is dead is everywhere.
            cache[number // 3 if number % 2 else number] = b"x" * size
        except polycache.NoSpace:
            full = True
    assert full == (policy == "none")
    keys = list(cache)
    assert len(keys) == len(cache) and all(len(cache[key]) == size for key in keys)
    assert cache.check() == []
    stats = cache._opened()._host.stats()
    assert stats.evicted_by_age == stats.evicted_by_conflict == 0


@pytest.mark.parametrize("part", ["key", "tag"])
@pytest.mark.parametrize("size", [1100, 5000, 16_000, 33_000, 50_000, 100_000])
@pytest.mark.parametrize("policy", ["none", "least-recently-stored"])
def test_long_keys_and_tags_are_counted(
    policy: str, size: int, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polycache.diskcache.handle.limit_of_store", lambda _: 4 * MIB)
    cache = diskcache.Cache(tmp_path, size_limit=4 * MIB, eviction_policy=policy)
    long = "x" * size
    written: list[Any] = []
    full = 0
    for number in range(12 * MIB // size):
        number //= 2 if number % 3 else 1  # Some are replaced.
        key = f"{number}{long}" if part == "key" else number
        try:
            cache.set(key, number, tag=long if part == "tag" else None)
        except polycache.NoSpace:
            full += 1
            if full == 20:
                break
        else:
            written.append(key)
    assert (full > 0) == (policy == "none")
    listed = list(cache)
    assert len(listed) == len(cache) and len(cache) * size > MIB * 3 // 4
    assert all(key in cache and cache.get(key) is not None for key in listed)
    if policy == "none":
        assert set(listed) == set(written)
    assert cache.check() == []
    stats = cache._opened()._host.stats()
    assert stats.evicted_by_age == stats.evicted_by_conflict == 0


@pytest.mark.parametrize("size", [100, 1900, 100_000])
@pytest.mark.parametrize("policy", ["none", "least-recently-stored"])
def test_a_transaction_that_is_larger_than_the_limit(
    policy: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polycache.diskcache.handle.limit_of_store", lambda _: 8 * MIB)
    cache = diskcache.Cache(tmp_path, size_limit=8 * MIB, eviction_policy=policy)
    for number in range(3 * MIB // (size + 600)):
        cache["old", number] = b"o" * size
    before = {key: cache[key] for key in cache}
    stats = cache._opened()._host.stats
    with pytest.raises(polycache.NoSpace), cache.transact():
        for number in range(20 * MIB // (size + 600)):
            cache["new", number] = b"n" * size
    # As if it had not begun.
    assert {key: cache[key] for key in cache} == before
    assert cache.check() == []
    assert stats().evicted_by_age == stats().evicted_by_conflict == 0
    with cache.transact():
        cache["small"] = 1
    assert cache["small"] == 1
