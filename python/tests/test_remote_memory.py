"""The memory tier over copies of what a server holds."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import INSTALLED, Server, started
from test_remote import listens, plain, stats, until

from polycache import Cache

pytestmark = pytest.mark.skipif(not INSTALLED, reason="no server is installed")


@pytest.fixture(scope="module", params=INSTALLED)
def shared(request: pytest.FixtureRequest) -> Iterator[Server]:
    with started(request.param) as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    plain(shared).flushall()
    return shared


@pytest.fixture(params=["directory", "no directory"])
def cache(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[Cache]:
    with opened(server, tmp_path if request.param == "directory" else None) as cache:
        listens(cache)
        yield cache


def opened(server: Server, path: Path | None = None, **options: Any) -> Cache:
    where = () if path is None else (path,)
    return Cache(*where, remote=server.url, timeout=5.0, **options)


def keeps(cache: Cache, key: str, value: object) -> None:
    """Reads a key until memory answers."""

    def look() -> bool:
        before = cache.stats().memory_hits
        assert cache.get(key) == value
        return cache.stats().memory_hits > before

    until("memory has it", look)


def reads(cache: Cache, value: object) -> None:
    until("it is heard of", lambda: cache.get("k") == value)


def test_memory_answers_without_a_look_at_the_copy(cache: Cache) -> None:
    cache.set("k", "v")
    keeps(cache, "k", "v")
    before, hits = stats(cache), cache.stats().memory_hits
    assert [cache.get("k") for _ in range(100)] == ["v"] * 100
    assert cache.stats().memory_hits == hits + 100
    assert (stats(cache).near_hits, stats(cache).remote_hits) == (
        before.near_hits,
        before.remote_hits,
    )


def test_every_change_ends_it(cache: Cache, server: Server) -> None:
    with opened(server) as far:
        for turn in range(20):
            far.set("k", turn)
            reads(cache, turn)
            keeps(cache, "k", turn)
        cache.set("k", "own")
        assert cache.get("k") == "own"
        keeps(cache, "k", "own")
        assert cache.delete("k")
        assert cache.get("k") is None
        for end in (far.clear, plain(server).flushall):
            far.set("k", "there")
            reads(cache, "there")
            listens(cache)
            keeps(cache, "k", "there")
            end()
            reads(cache, None)


def test_a_namespace_has_its_own(cache: Cache) -> None:
    one, other = cache.namespace("one"), cache.namespace("other")
    one.set("k", "1")
    other.set("k", "2")
    keeps(one, "k", "1")
    keeps(other, "k", "2")
    one.clear()
    assert one.get("k") is None
    assert other.get("k") == "2"


def test_what_can_change_is_shared_if_asked_for(server: Server, tmp_path: Path) -> None:
    with opened(server, tmp_path, memory={"isolation": "none"}) as cache:
        listens(cache)
        cache.set("k", {"a": 1})
        keeps(cache, "k", {"a": 1})
        assert cache.get("k") is cache.get("k")
    with opened(server, tmp_path, memory=False) as cache:
        listens(cache)
        assert [cache.get("k") for _ in range(10)] == [{"a": 1}] * 10
        assert cache.stats().memory_hits == 0


def test_without_news_memory_serves_for_max_staleness_at_most(tmp_path: Path) -> None:
    with (
        started(INSTALLED[0]) as server,
        Cache(tmp_path, remote=server.url, timeout=0.3) as cache,
    ):
        cache.set("k", "v")
        listens(cache)
        keeps(cache, "k", "v")
        server.stop()
        until("it is served no longer", lambda: cache.get("k") is None)
        assert cache.get("k") is None
        assert cache.get_or_set("k", lambda: "loaded") == "loaded"


def test_a_forked_child_asks_anew(cache: Cache, server: Server) -> None:
    cache.set("k", "before")
    keeps(cache, "k", "before")
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.read(ready, 1)
            status = cache.get("k") != "after"
        finally:
            os._exit(status)
    with opened(server) as far:
        far.set("k", "after")
    reads(cache, "after")
    os.write(go, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_never_go_back(cache: Cache, server: Server) -> None:
    """Each thread reads numbers that only rise, by memory, by copies and from the server."""
    done = threading.Event()
    failed: list[str] = []
    newest = [0]

    def read() -> None:
        while not done.is_set():
            before = newest[0]
            found = cache.get("n")
            if found is not None and found < before:
                failed.append(f"{found} after {before}")
            newest[0] = max(newest[0], found or 0)

    with opened(server) as far:
        far.set("n", 0)
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(1, 1000):
            far.set("n", number)
        done.set()
        for thread in threads:
            thread.join()
    assert not failed
