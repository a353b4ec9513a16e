"""A cache on a read-only mount, and the files' mode."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from polycache import AsyncCache, Cache, InvalidArgument, ReadOnly


@pytest.fixture
def read_only(directory: Path, tmp_path: Path) -> Iterator[Path]:
    """The directory, with an entry, by another path, which may only be read."""
    with Cache(directory, limit="4MiB") as cache:
        cache.set("k", {"a": 1})
    at = tmp_path / "mount"
    at.mkdir()
    if subprocess.run(["mount", "--bind", directory, at], capture_output=True).returncode:
        pytest.skip("a read-only mount needs root")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", at], check=True)
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=True)


def test_hits_are_served_misses_loaded_and_writes_refused(directory: Path, read_only: Path) -> None:
    with Cache(directory) as writer, Cache(read_only) as cache:
        for _ in range(100):
            assert cache.get("k") == {"a": 1}
        writer.set("k", "text")
        assert cache.get("k") == "text"
        assert cache.get("other") is None
        loads: list[int] = []

        def load() -> int:
            loads.append(1)
            return len(loads)

        assert [cache.get_or_set("other", load) for _ in range(2)] == [1, 2]
        writes: list[Callable[[], object]] = [
            lambda: cache.set("k", 1),
            lambda: cache.delete("k"),
            cache.clear,
            lambda: cache.take("k"),
            lambda: cache.add("new", 1),
            lambda: cache.increment("number"),
            lambda: cache.lease("k").acquire(),
        ]
        for write in writes:
            with pytest.raises(ReadOnly):
                write()
        assert cache.get("k") == "text"


async def test_an_async_cache_loads_and_refuses_too(read_only: Path) -> None:
    async with AsyncCache(read_only) as cache:

        async def load() -> str:
            return "loaded"

        assert await cache.get("k") == {"a": 1}
        assert await cache.get_or_set("other", load) == "loaded"
        with pytest.raises(ReadOnly):
            await cache.set("k", 1)
        with pytest.raises(ReadOnly):
            await cache.lease("k").acquire()


def test_the_mode_is_that_of_the_files_and_no_other_number_is_one(directory: Path) -> None:
    wrong: list[Any] = [0o666, 660, -1, 1.5, "0o660", True]
    for mode in wrong:
        with pytest.raises(InvalidArgument):
            Cache(directory, mode=mode)
    assert not directory.exists()

    def bits() -> int:
        return (directory / "v2" / "index").stat().st_mode & 0o777

    with Cache(directory, limit="4MiB", mode=0o660) as cache:
        cache.set("k", 1)
        assert bits() == 0o660
    with Cache(directory) as cache:
        assert (cache.get("k"), bits()) == (1, 0o660)
    with Cache(directory, mode=0o600):
        assert bits() == 0o600
    with pytest.raises(InvalidArgument):
        Cache(mode=0o660)
