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
    assert [list(reader) for reader in readers] == [[1, 3, 4], [3, 1, 0], [1, 3, 4, 5], [1, 2]]
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


KINDS: dict[str, Any] = {
    "Cache": diskcache.Cache,
    "FanoutCache": diskcache.FanoutCache,
    "Index": lambda directory: diskcache.Index(str(directory)),
    "Deque": lambda directory: diskcache.Deque((), directory),
    "DjangoCache": lambda directory: diskcache.DjangoCache(str(directory), {}),
}


def put(kind: str, one: Any, value: int) -> None:
    if kind == "Deque":
        one.append(value)
    elif kind == "DjangoCache":
        one.set(f"k{value}", value)
    else:
        one[f"k{value}"] = value


def held(kind: str, one: Any) -> list[int]:
    if kind == "Deque":
        return list(one)
    if kind == "DjangoCache":
        return [one.get(f"k{value}") for value in range(3) if f"k{value}" in one]
    return [one[key] for key in one]


def close(kind: str, one: Any) -> None:
    (one.cache if kind in ("Index", "Deque") else one).close()


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_closed_is_opened_by_its_next_use(kind: str, tmp_path: Path) -> None:
    one = KINDS[kind](tmp_path)
    for value in range(3):
        put(kind, one, value)
        close(kind, one)
        close(kind, one)  # Once more does nothing.
        assert held(kind, one) == list(range(value + 1))
        close(kind, one)
    assert held(kind, KINDS[kind](tmp_path)) == [0, 1, 2]
    if kind in ("Cache", "FanoutCache"):
        for _ in range(2):
            with one as again:
                assert again is one and len(one) == 3
        assert one["k0"] == 0
        descriptors = len(os.listdir("/proc/self/fd"))
        one.close()
        assert len(os.listdir("/proc/self/fd")) < descriptors
        assert one["k0"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_home_and_variables_in_a_directory(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NAME_OF_TESTS", "named")
    put(kind, KINDS[kind]("~/at home/$NAME_OF_TESTS"), 1)
    assert (tmp_path / "at home" / "named").is_dir()
    assert held(kind, KINDS[kind](tmp_path / "at home" / "named")) == [1]
