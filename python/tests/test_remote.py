"""The remote tier, over a URL and clients of the package redis. Two directories are two hosts."""

import asyncio
import gc
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
from servers import INSTALLED, Server, started

import polycache
from polycache import AsyncCache, Cache, InvalidArgument, RemoteUnavailable
from polycache.remote import ClientConnections

pytestmark = pytest.mark.skipif(not INSTALLED, reason="no server is installed")
PATIENCE = 20.0


@pytest.fixture(scope="module", params=INSTALLED)
def shared(request: pytest.FixtureRequest) -> Iterator[Server]:
    with started(request.param) as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Iterator[Server]:
    plain(shared).flushall()
    yield shared
    gc.collect()


@pytest.fixture
def own() -> Iterator[Server]:
    """A server that the test may stop."""
    with started(INSTALLED[0]) as server:
        yield server


def plain(server: Server) -> Any:
    return redis.Redis(port=server.port)


REMOTES: dict[str, Callable[[Server], Any]] = {
    "url": lambda server: server.url,
    "client": lambda server: redis.Redis(port=server.port, decode_responses=True),
    "async client": lambda server: redis.asyncio.Redis(port=server.port),
}


@pytest.fixture(params=REMOTES)
def remote(request: pytest.FixtureRequest, server: Server) -> Any:
    return REMOTES[request.param](server)


def until(what: str, holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.002)


def stats(cache: Cache) -> polycache.RemoteStats:
    found = cache.remote_stats()
    assert found is not None
    return found


def listens(cache: Cache) -> None:
    def look() -> bool:
        cache.get("anything")
        return stats(cache).listens

    until("it listens", look)


def test_what_one_host_writes_another_reads(remote: Any, tmp_path: Path) -> None:
    with (
        Cache(tmp_path / "one", remote=remote, timeout="5s") as one,
        Cache(tmp_path / "two", remote=remote, timeout="5s") as two,
    ):
        one["k"] = {"n": 1}
        assert two["k"] == {"n": 1}
        listens(two)
        assert two["k"] == {"n": 1}
        before = stats(two)
        for _ in range(50):
            assert two["k"] == {"n": 1}
        assert stats(two).near_hits == before.near_hits + 50
        assert stats(two).remote_hits == before.remote_hits
        one["k"] = "second"
        until("the write is heard of", lambda: two.get("k") == "second")
        one.clear()
        until("the clear is heard of", lambda: two.get("k") is None)


def test_without_a_directory(remote: Any) -> None:
    with Cache(remote=remote, timeout="5s") as one, Cache(remote=remote, timeout="5s") as two:
        assert one.path is None
        one.namespace("shop")["k"] = 1
        listens(two)
        assert two.namespace("shop")["k"] == 1
        assert two.namespace("shop").increment("k") == 2
        assert list(two.namespace("shop").keys()) == ["k"]
        assert "remote" in repr(one)


def test_a_plain_client_is_heard_of(remote: Any, server: Server, tmp_path: Path) -> None:
    with Cache(tmp_path, remote=remote, timeout="5s", prefix="mine") as cache:
        cache["k"] = "ours"
        listens(cache)
        assert cache["k"] == "ours"
        plain(server).delete("mine:::k")
        until("the delete is heard of", lambda: cache.get("k") is None)


def test_one_thread_in_the_cluster_loads(remote: Any, tmp_path: Path) -> None:
    caches = [Cache(tmp_path / str(n), remote=remote, timeout="5s") for n in range(2)]
    for cache in caches:
        listens(cache)
    loads = []
    barrier = threading.Barrier(6)

    def load() -> str:
        loads.append(1)
        time.sleep(0.2)
        return "loaded"

    def work(cache: Cache) -> None:
        barrier.wait()
        assert cache.get_or_set("k", load) == "loaded"

    threads = [threading.Thread(target=work, args=(caches[n % 2],)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    for cache in caches:
        cache.close()


def test_cleared_entries_leave_the_server(remote: Any, server: Server, tmp_path: Path) -> None:
    other = plain(server)
    with Cache(tmp_path, remote=remote, timeout="5s") as cache:
        listens(cache)
        shop = cache.namespace("shop")
        shop.set_many({f"k{number}": number for number in range(100)})
        cache["k"] = "stays"
        shop.clear()
        until("their space is given back", lambda: not other.keys("polycache:shop:*"))
        assert cache["k"] == "stays"


def test_a_failing_source_is_asked_once_for_all_callers(server: Server, tmp_path: Path) -> None:
    # Most of them come while the first one asks the server whether it may load.
    for trial in range(5):
        with Cache(tmp_path / str(trial), remote=server.url, timeout="5s") as cache:
            loads, told = _failing(cache)
            assert told == 8 and loads <= 2


def _failing(cache: Cache) -> tuple[int, int]:
    """Loads of a source that fails, and how many of eight callers were told."""
    loads: list[None] = []
    told: list[None] = []

    def load() -> str:
        loads.append(None)
        time.sleep(0.2)
        raise RuntimeError("down")

    def want() -> None:
        with pytest.raises(RuntimeError):
            cache.get_or_set("k", load)
        told.append(None)

    callers = [threading.Thread(target=want) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    return len(loads), len(told)


def test_without_a_server(tmp_path: Path) -> None:
    for remote in ("redis://127.0.0.1:1", redis.Redis(port=1)):
        with Cache(tmp_path, remote=remote) as cache:
            assert cache.get("k") is None
            for _ in range(10):
                with pytest.raises(RemoteUnavailable) as refused:
                    cache["k"] = 1
            assert refused.value.retryable and isinstance(refused.value, ConnectionError)
            assert cache.get_or_set("k", lambda: "loaded") == "loaded"
            assert stats(cache).is_open and stats(cache).faults > 10
            assert stats(cache).last_fault


def test_other_threads_run_while_the_server_hangs(own: Server, tmp_path: Path) -> None:
    for remote in (own.url, redis.Redis(port=own.port)):
        with Cache(tmp_path, remote=remote, timeout="2s") as cache:
            cache["k"] = 1
            os.kill(own.process.pid, signal.SIGSTOP)
            try:
                thread = threading.Thread(target=fails_to_set, args=(cache,))
                thread.start()
                turns = 0
                while thread.is_alive():
                    turns += 1
                    time.sleep(0.001)
                thread.join()
                # With the interpreter's lock held for two seconds there would be a handful.
                assert turns > 50
            finally:
                os.kill(own.process.pid, signal.SIGCONT)
            until("it is back", lambda: _sets(cache))


def fails_to_set(cache: Cache) -> None:
    with pytest.raises(RemoteUnavailable):
        cache["k"] = 2


def _sets(cache: Cache) -> bool:
    try:
        cache["k"] = 3
    except RemoteUnavailable:
        return False
    return True


def test_a_server_that_comes_back_empty(own: Server, tmp_path: Path) -> None:
    for remote in (own.url, redis.Redis(port=own.port)):
        with Cache(tmp_path, remote=remote, timeout="5s") as cache:
            cache["k"] = 1
            listens(cache)
            assert cache["k"] == 1
            own.stop()
            own.start()
            until("the copy is gone", lambda: cache.get("k") is None)
            until("it can be written", lambda: _sets(cache))
            listens(cache)
            assert cache["k"] == 3


def test_a_forked_child_has_connections_of_its_own(remote: Any, tmp_path: Path) -> None:
    with Cache(tmp_path, remote=remote, timeout="5s") as cache:
        cache["k"] = 0
        listens(cache)
        children = []
        for child in range(3):
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    for _ in range(50):
                        cache.increment("k")
                        assert isinstance(cache.get("k"), int)
                    cache[f"child {child}"] = child
                    status = 0
                finally:
                    os._exit(status)
            children.append(pid)
        for _ in range(50):
            cache.increment("k")
        assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0, 0, 0]
        until("all are counted", lambda: cache.get("k") == 200)
        until("they are read", lambda: [cache.get(f"child {n}") for n in range(3)] == [0, 1, 2])


def test_the_machine_counts_what_programs_did(remote: Any, tmp_path: Path) -> None:
    # A child cannot tell its parent's hits in memory from its own.
    with Cache(tmp_path / "a", remote=remote, timeout=5.0, memory=False) as cache:
        cache.set("k", "v")
        listens(cache)
        assert cache.get("k") == "v"
        for _ in range(200):
            assert cache.get("k") == "v"
        assert cache.get("absent") is None
        both = threading.Barrier(2)

        def load() -> str:
            both.wait()
            # The other caller joins in that time; the test is right as well if it comes later.
            time.sleep(0.05)
            return "loaded"

        first = threading.Thread(target=lambda: cache.get_or_set("l", load))
        first.start()
        both.wait()
        assert cache.get_or_set("l", load) == "loaded"
        first.join()

        def child() -> None:
            assert all(cache.get("k") == "v" for _ in range(100))
            cache.close()

        forked = multiprocessing.get_context("fork").Process(target=child)
        forked.start()
        forked.join()
        assert forked.exitcode == 0
        own, stats, machine = cache.stats(), cache.remote_stats(), cache.machine_stats()
        assert stats and machine
        assert machine.hits - own.hits == 100
        assert (machine.writes, machine.misses, machine.loads) == (2, own.misses, 1)
        assert machine.hits == machine.near_hits + machine.remote_hits + machine.joined_hits
        assert machine.joined_hits == stats.joined_hits
        assert (machine.faults, machine.last_fault_at, machine.last_open_at) == (0, 0, 0)


def test_a_fork_while_another_thread_uses_the_connections(server: Server) -> None:
    connections = ClientConnections(plain(server))
    with connections._lock:
        pid = os.fork()
        if pid == 0:
            signal.alarm(int(PATIENCE))
            os._exit(connections.send([[b"PING"]], 5.0, True) != [b"PONG"])
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _in_a_process(cache: Cache) -> Any:
    with cache:
        return cache["k"]


def test_a_cache_over_a_url_is_pickled(server: Server, tmp_path: Path) -> None:
    with Cache(tmp_path, remote=server.url, timeout="5s") as cache:
        cache["k"] = "sent"
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(_in_a_process, (cache,)) == "sent"
    with Cache(remote=plain(server)) as cache, pytest.raises(InvalidArgument):
        pickle.dumps(cache)


def test_the_clients_own_connections_stay_as_they_are(server: Server, tmp_path: Path) -> None:
    client = redis.Redis(port=server.port, decode_responses=True, socket_timeout=7)
    before = dict(client.connection_pool.connection_kwargs)
    with Cache(tmp_path, remote=client) as cache:
        cache["k"] = "v"
        listens(cache)
    assert client.connection_pool.connection_kwargs == before
    client.set("text", "still decoded")
    assert client.get("text") == "still decoded"
    client.close()


def test_rights_and_passwords(own: Server, tmp_path: Path) -> None:
    plain(own).acl_setuser(
        "limited",
        enabled=True,
        passwords=["+secret"],
        keys=["polycache*"],
        categories=["+@all"],
        commands=["-client|tracking"],
    )
    for remote in (
        f"redis://limited:secret@127.0.0.1:{own.port}",
        redis.Redis(port=own.port, username="limited", password="secret"),
    ):
        with Cache(tmp_path, remote=remote, timeout="5s") as cache:

            def refused(cache: Cache = cache) -> bool:
                cache["k"] = 1
                assert cache["k"] == 1
                return stats(cache).refuses_tracking

            until("it says so", refused)
    with Cache(remote=redis.Redis(port=own.port, username="limited", password="wrong")) as cache:
        assert cache.get("k") is None
        with pytest.raises(RemoteUnavailable, match=r"WRONGPASS|invalid username"):
            cache["k"] = 1


def test_many_keys_take_one_round_trip(remote: Any) -> None:
    with Cache(remote=remote, timeout=5, max_staleness=0) as cache:
        cache.set("warm", "up")
        values = {f"k{number}": {"number": number} for number in range(100)}

        def round_trips(work: Callable[[], object]) -> int:
            before = stats(cache).round_trips
            work()
            return stats(cache).round_trips - before

        assert round_trips(lambda: cache.set_many(values)) == 1
        assert round_trips(lambda: cache.get_many(values)) == 1
        assert cache.get_many([*values, "none"]) == values
        assert cache.get_many([b"k1", "k1"]) == {b"k1": {"number": 1}, "k1": {"number": 1}}
        # An entry before one that cannot be written is stored, one after it is not.
        with pytest.raises(polycache.UnsupportedValue):
            cache.set_many({"before": 1, "bad": object(), "after": 2})
        assert cache.get_many(["before", "bad", "after"]) == {"before": 1}
        with pytest.raises(polycache.InvalidKey):
            cache.get_many(["k1", 7])  # type: ignore[list-item]
        deleted = []
        assert round_trips(lambda: deleted.append(cache.delete_many([*values, "none"]))) == 1
        assert deleted == [100]
        assert cache.get_many(values) == {}
        loaded = cache.get_or_set_many(values, lambda keys: dict.fromkeys(keys, "loaded"))
        assert loaded == dict.fromkeys(values, "loaded")


def test_reading_through(remote: Any, tmp_path: Path) -> None:
    with Cache(tmp_path, remote=remote, max_staleness=0, timeout="5s") as cache:
        cache["k"] = 1
        for _ in range(5):
            assert cache["k"] == 1
        assert stats(cache).near_hits == 0 and stats(cache).remote_hits == 5


@pytest.mark.parametrize(
    "options",
    [
        {"remote": 1},
        {"remote": "http://127.0.0.1"},
        {"remote": object()},
        {"timeout": "1s"},
        {"max_staleness": 0},
        {"prefix": "p"},
        {"remote": "redis://127.0.0.1:1", "timeout": 0},
        {"remote": "redis://127.0.0.1:1", "max_staleness": "1ms"},
        {"remote": "redis://127.0.0.1:1", "max_staleness": True},
        {"remote": "redis://127.0.0.1:1", "prefix": "{a}"},
        {"remote": "redis://127.0.0.1:1", "prefix": 1},
    ],
)
def test_bad_options(options: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        Cache(**options)
    with pytest.raises(InvalidArgument):
        Cache(tmp_path, **options)


def test_dropped_caches_leave_no_connection(own: Server, tmp_path: Path) -> None:
    for number in range(3):
        cache = Cache(tmp_path / str(number), remote=plain(own), timeout="5s")
        listens(cache)
        del cache
        gc.collect()
    client = plain(own)
    until("all are closed", lambda: len(client.client_list()) == 1)


def test_a_program_ends_in_time(server: Server) -> None:
    """Threads of the tier must not hold up, or crash, the end of the interpreter."""
    import subprocess
    import sys

    program = f"""
import redis, polycache, time
for remote in ({server.url!r}, redis.Redis(port={server.port})):
    cache = polycache.Cache(remote=remote, timeout="5s")
    cache["k"] = 1
    until = time.monotonic() + 20
    while not cache.remote_stats().listens and time.monotonic() < until:
        cache.get("k")
        time.sleep(0.002)
    assert cache.remote_stats().listens
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


async def test_asyncio(remote: Any, tmp_path: Path) -> None:
    async with AsyncCache(tmp_path, remote=remote, timeout="5s") as cache:
        assert await cache.get("k") is None
        await cache.set("k", 1)
        assert await cache.get("k") == 1 and await cache.increment("k") == 2
        assert [key async for key in cache.keys("")] == ["k"]

        async def change(value: int) -> int:
            await asyncio.sleep(0)
            return value + 40

        assert await cache.update("k", change) == 42
        loads = 0

        async def load() -> str:
            nonlocal loads
            loads += 1
            await asyncio.sleep(0.05)
            return "loaded"

        found = await asyncio.gather(*(cache.get_or_set("other", load) for _ in range(20)))
        assert set(found) == {"loaded"} and loads == 1
        many = await cache.get_or_set_many(["k", "new"], many_loaded)
        assert many == {"k": 42, "new": "many"}
        lease = cache.lease("rebuild")
        async with lease:
            assert await lease.locked()
        await cache.clear()
        assert await cache.get("k") is None
        stats = await cache.remote_stats()
        assert stats is not None and stats.round_trips > 10


async def many_loaded(keys: list[str]) -> dict[str, str]:
    return dict.fromkeys(keys, "many")


async def test_the_event_loop_goes_on_while_the_server_hangs(own: Server) -> None:
    async with AsyncCache(remote=own.url, timeout="2s") as cache:
        await cache.set("k", 1)
        os.kill(own.process.pid, signal.SIGSTOP)
        try:
            turns = 0
            task = asyncio.create_task(cache.get_or_set("other", many_turns))
            while not task.done():
                turns += 1
                await asyncio.sleep(0.001)
            assert await task == "loaded"
            assert turns > 50
        finally:
            os.kill(own.process.pid, signal.SIGCONT)


async def many_turns() -> str:
    await asyncio.sleep(0)
    return "loaded"
