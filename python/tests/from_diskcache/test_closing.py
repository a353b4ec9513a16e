"""Handles that are closed, forked, and moved while they are used."""

import os
from pathlib import Path
from typing import Any

import pytest
from helpers import together

import polycache.diskcache as diskcache
from polycache.diskcache.handle import Block


@pytest.mark.parametrize("use", ["cull", "evict", "expire", "hits", "reset", "stats", "clear"])
def test_a_handle_is_closed_by_another_thread_as_a_block_begins(
    use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = diskcache.Cache(tmp_path, statistics=1)
    for number in range(50):
        cache.set(number, number, tag="t", expire=1000)
    enter = Block.__enter__

    def closed_before(block: Block) -> Any:
        block._cache.close()
        return enter(block)

    calls: dict[str, Any] = {
        "cull": lambda: cache.reset("size_limit", 0) or cache.cull(),
        "evict": lambda: cache.evict("t"),
        "expire": lambda: cache.expire(1e12),
        "hits": lambda: [cache.get(number) for number in range(50)] and cache.stats()[0],
        "reset": lambda: cache.reset("hits", 50),
        "stats": lambda: 50 + sum(cache.stats(reset=True)) + sum(cache.stats()),
        "clear": lambda: cache.clear(),
    }
    monkeypatch.setattr(Block, "__enter__", closed_before)
    assert calls[use]() == 50
    monkeypatch.undo()
    assert (
        len(cache) == len(list(cache)) == (0 if use in ("cull", "evict", "expire", "clear") else 50)
    )
    assert cache.check() == []


def test_generators_that_are_left_half_read(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    deque: diskcache.Deque[int] = diskcache.Deque(range(3), tmp_path / "deque")
    for number in range(5):
        cache[number] = number
    readers: list[Any] = [iter(cache), reversed(cache), cache.iterkeys(), iter(deque)]
    first = [next(reader) for reader in readers]
    assert first == [0, 4, 0, 0]
    cache[5] = 5  # They hold no lock.
    del cache[2]
    cache.close()
    deque.cache.close()
    assert [list(reader) for reader in readers] == [[1, 3, 4], [3, 1, 0], [1, 3, 4], [1, 2]]
    half_read = iter(cache)
    next(half_read)
    del half_read
    assert together(lambda: cache.set(6, 6)) == [True]


def test_a_child_has_a_lock_of_its_own_when_the_directory_was_moved(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path / "here", timeout=0.01)
    cache["k"] = 1
    os.rename(tmp_path / "here", tmp_path / "there")
    diskcache.Cache(tmp_path / "here")["k"] = "another's"
    with cache.transact():
        child = os.fork()
        if child == 0:
            status = 1
            try:
                cache.set("k", "child's")
            except diskcache.Timeout:
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        cache["k"] = 2
    assert diskcache.Cache(tmp_path / "there")["k"] == 2 == cache["k"]


def test_many_processes_that_live_shortly(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    for number in range(40):
        child = os.fork()
        if child == 0:
            try:
                mine = cache if number % 2 else diskcache.Cache(tmp_path)
                mine.push(number)
                mine.incr("sum")
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    assert cache["sum"] == 40
    assert [cache.pull()[1] for _ in range(40)] == list(range(40))
    assert cache.check() == [] and len(cache) == 1
