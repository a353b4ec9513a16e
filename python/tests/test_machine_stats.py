"""What all processes of the machine did with a directory, and the space of namespaces."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from polycache import AsyncCache, Cache, InvalidArgument, MachineStats, Usage

OTHER = """
import sys
from polycache import Cache

cache = Cache(sys.argv[1], memory=False)
cache.set("other", 1)
for _ in range(10):
    cache.get("other")
cache.get("absent")
print("ready", flush=True)
sys.stdin.readline()
"""


def stats_of(cache: Cache) -> MachineStats:
    stats = cache.machine_stats()
    assert stats is not None
    return stats


@pytest.mark.parametrize("memory", [True, False])
def test_processes_are_counted_together_and_each_for_itself(tmp_path: Path, memory: bool) -> None:
    cache = Cache(tmp_path, memory=memory)
    cache.set("k", "v")
    assert [cache.get("k") for _ in range(500)] == ["v"] * 500
    command = [sys.executable, "-c", OTHER, str(tmp_path)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as other:
        assert other.stdin and other.stdout
        assert other.stdout.readline() == "ready\n"
        stats = stats_of(cache)
        assert (stats.hits, stats.misses, stats.writes) == (510, 1, 2)
        mine, others = stats.processes
        assert (mine.pid, mine.hits, mine.handles) == (os.getpid(), 500, 1)
        assert (others.pid, others.hits, others.misses) == (other.pid, 10, 1)
        other.kill()
    stats = stats_of(cache)
    # What a dead process did stays.
    assert (stats.hits, stats.misses, len(stats.processes)) == (510, 1, 1)
    assert (stats.memory_hits > 400) is memory
    assert stats.since <= mine.since


def test_loads_count_their_miss_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.get_or_set("k", lambda: 1) == 1
    assert cache.get_or_set("k", lambda: 2) == 1
    with pytest.raises(ZeroDivisionError):
        cache.get_or_set("fails", lambda: 1 // 0)
    stats = stats_of(cache)
    assert (stats.hits, stats.misses, stats.loads, stats.failed_loads) == (1, 2, 2, 1)
    own = cache.stats()
    assert (own.hits, own.misses) == (1, 2)


def test_a_lock_is_no_read(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    with cache.lease("k"):
        pass
    stats = stats_of(cache)
    assert (stats.misses, stats.loads, stats.failed_loads) == (0, 0, 0)
    assert cache.stats().misses == 0


def test_a_closed_cache_leaves_all_its_hits(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache.set("k", "v")
        for _ in range(333):
            cache.get("k")
    with Cache(tmp_path) as cache:
        assert (stats_of(cache).hits, stats_of(cache).writes) == (333, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_counts_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path, memory=False)
    cache.set("k", "v")
    for _ in range(1000):
        cache.get("k")
    if (pid := os.fork()) == 0:
        try:
            for _ in range(20):
                cache.get("k")
            # Without `close`, as a worker ends.
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    # A sixteenth of the child's hits may be missing.
    assert 1019 <= stats_of(cache).hits <= 1020


def test_usage_is_told_by_namespace(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.set("k", "x")
    nested = cache.namespace("shop").namespace("eu")
    nested.set_many({"a": "x" * 1000, "b": "x" * 1000})
    usage = cache.usage()
    assert usage is not None
    assert [(one.namespace, one.entries) for one in usage] == [(["shop", "eu"], 2), ([], 1)]
    assert usage[0].bytes > 2000
    # The whole directory, whichever namespace is asked.
    largest = Usage(namespace=["shop", "eu"], entries=2, bytes=usage[0].bytes)
    assert nested.usage(1) == usage[:1] == [largest]
    assert cache.usage(0) == []
    for wrong in (-1, 1.5, True, None, "10", 2**32):
        for asked in (cache, Cache()):
            with pytest.raises(InvalidArgument, match="most is"):
                asked.usage(wrong)  # type: ignore[arg-type]


def test_without_a_directory_there_is_nothing_to_tell() -> None:
    cache = Cache()
    cache.set("k", 1)
    assert cache.machine_stats() is None
    assert cache.usage() is None


def test_asynchronous_twins(tmp_path: Path) -> None:
    async def run() -> None:
        async with AsyncCache(tmp_path) as cache:
            await cache.set("k", 1)
            stats = await cache.machine_stats()
            usage = await cache.usage(1)
            assert stats is not None and stats.writes == 1
            assert usage is not None and usage[0].entries == 1

    asyncio.run(run())
