"""Several processes on one directory: nothing is lost or doubled, whoever is killed."""

import multiprocessing
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT, answer, python, until

import polycache.diskcache as diskcache

WORKERS = 3
FORK = multiprocessing.get_context("fork")


def in_processes(work: Callable[..., None], *arguments: Any) -> list[Any]:
    """What the processes put into their queue; each is given its number."""
    results = FORK.SimpleQueue()
    processes = [
        FORK.Process(target=work, args=(results, number, *arguments)) for number in range(WORKERS)
    ]
    for process in processes:
        process.start()
    found = [results.get() for _ in processes]
    for process in processes:
        process.join(LIMIT)
        assert process.exitcode == 0
    return found


def pull_and_push(results: Any, number: int, folder: Path) -> None:
    deque: diskcache.Deque[Any] = diskcache.Deque(directory=folder)
    taken = []
    for item in range(300):
        deque.append([number, item])
        if item % 3:
            taken.append(deque.popleft() if item % 2 else deque.pop())
    results.put(taken)


def test_what_is_pushed_is_pulled_once(tmp_path: Path) -> None:
    taken = in_processes(pull_and_push, tmp_path)
    deque: diskcache.Deque[Any] = diskcache.Deque(directory=tmp_path)
    left = list(deque)
    assert len(left) == len(deque) == WORKERS * 100
    everything = Counter((number, item) for part in [*taken, left] for number, item in part)
    assert everything == Counter((number, item) for number in range(WORKERS) for item in range(300))
    # Those of one process are still in its order.
    for number in range(WORKERS):
        mine = [item for one, item in left if one == number]
        assert mine == sorted(mine)
    assert deque.cache.check() == []


def count(results: Any, number: int, folder: Path) -> None:
    cache = diskcache.Cache(folder)
    index: diskcache.Index[Any, Any] = diskcache.Index.fromcache(cache)
    average = diskcache.Averager(cache, "average")
    added = 0
    for item in range(200):
        cache.incr("sum", number + 1)
        cache.decr("down")
        added += cache.add(("once", item), number)
        average.add(number)
        with cache.transact():
            cache["a"] = cache.get("a", 0) + 1
            cache["b"] = cache.get("b", 0) + 1
            assert cache["a"] == cache["b"]
        index.setdefault(("first", item), number)
    results.put(added)


def test_no_addition_is_lost(tmp_path: Path) -> None:
    added = in_processes(count, tmp_path)
    cache = diskcache.Cache(tmp_path)
    assert sum(added) == 200
    assert cache["sum"] == 200 * sum(range(1, WORKERS + 1)) and cache["down"] == -200 * WORKERS
    assert cache["a"] == cache["b"] == 200 * WORKERS
    assert diskcache.Averager(cache, "average").get() == sum(range(WORKERS)) / WORKERS
    assert len(cache) == 5 + 400 == len(list(cache))
    assert cache.check() == []


def hold(results: Any, number: int, folder: Path, kind: Any, most: int) -> None:
    cache = diskcache.Cache(folder)
    lock = kind(cache, "lock", value=most) if most > 1 else kind(cache, "lock")
    seen = 0
    for _ in range(50):
        with lock:
            seen = max(seen, cache.incr("inside"))
            cache.decr("inside")
    results.put(seen)


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        (diskcache.Lock, 1),
        (diskcache.RLock, 1),
        (diskcache.BoundedSemaphore, 1),
        (diskcache.BoundedSemaphore, 2),
    ],
)
def test_as_many_hold_a_lock_as_may(kind: Any, most: int, tmp_path: Path) -> None:
    assert max(in_processes(hold, tmp_path, kind, most)) <= most
    assert diskcache.Cache(tmp_path)["inside"] == 0


def call_throttled(results: Any, number: int, folder: Path) -> None:
    cache = diskcache.Cache(folder)
    waits: list[float] = []

    # The clock stands still, so nobody may call again; who would wait gives up instead.
    class Enough(Exception):
        pass

    def give_up(seconds: float) -> None:
        waits.append(seconds)
        raise Enough

    decorate = diskcache.throttle(
        cache, 10, 1, name="t", time_func=lambda: 1000.0, sleep_func=give_up
    )
    call: Callable[[], None] = decorate(lambda: None)
    cache.incr("ready")
    until(lambda: bool(cache["ready"] == WORKERS))
    cache.add("start", True)
    if cache.add("reset", True):
        cache.set("t", (1000.0, 10))
        cache["go"] = True
    until(lambda: "go" in cache)
    done = 0
    try:
        for _ in range(20):
            call()
            done += 1
    except Enough:
        pass
    results.put(done)


def test_throttle_counts_the_calls_of_all(tmp_path: Path) -> None:
    assert sum(in_processes(call_throttled, tmp_path)) == 10


HOLDER = """
import sys, polycache.diskcache as diskcache
cache = diskcache.Cache(sys.argv[1])
lock = getattr(diskcache, sys.argv[2])(cache, "lock")
lock.acquire()
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("kind", ["Lock", "RLock", "BoundedSemaphore"])
def test_a_lock_whose_holder_was_killed_is_free(kind: str, tmp_path: Path) -> None:
    lock = getattr(diskcache, kind)(diskcache.Cache(tmp_path), "lock")
    with python(HOLDER, tmp_path, kind) as holder:
        assert answer(holder) == "held"
        assert not lock._try()
        holder.send_signal(signal.SIGSTOP)  # Who does not run still holds it.
        assert not lock._try()
        holder.kill()
        until(lambda: bool(lock._try()))
    assert not diskcache.Lock(lock._cache, "lock")._try()
    lock.release()
    assert lock._try()


WRITER = """
import os, sys, polycache.diskcache as diskcache
cache = diskcache.Cache(sys.argv[1], eviction_policy="none")
print("begins", flush=True)
number = 0
while True:
    with cache.transact():
        for name in "abc":
            cache[name] = number
            cache[f"{name}{number % 7}"] = "x" * (number % 5000)
        cache.push(number, "p")
        if number % 3 == 0:
            cache.pull("p")
        cache.delete(f"a{(number + 3) % 7}")
    with open(sys.argv[2], "r+b") as done:
        done.write(b"%20d" % number)
    number += 1
"""


def test_a_transaction_is_whole_whenever_its_process_is_killed(tmp_path: Path) -> None:
    # The moments are the kernel's. Each run of the loop kills and reads what is left.
    pause = threading.Event()
    for round_ in range(6):
        folder = tmp_path / str(round_)
        told = tmp_path / f"told{round_}"
        told.write_bytes(b"%20d" % -1)
        with python(WRITER, folder, told) as writer:
            assert answer(writer) == "begins"
            until(lambda told=told: int(told.read_bytes()) >= 0)  # type: ignore[misc]
            pause.wait(0.0137 * (round_ + 1))
            writer.kill()
            writer.wait(LIMIT)
        cache = diskcache.Cache(folder)
        with cache.transact():  # Mends.
            numbers = {cache[name] for name in "abc"}
        assert len(numbers) == 1 and numbers.pop() in (
            (done := int(told.read_bytes())),
            done + 1,
        )
        assert cache.check() == []
        queued = [cache[key] for key in cache if str(key).startswith("p-")]
        assert queued == sorted(queued) and len(set(queued)) == len(queued)
        assert len(list(cache)) == len(cache)


@pytest.mark.parametrize("step", range(1, 40))
def test_a_kill_at_every_step_of_a_write(step: int, tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    cache.set("old", "x" * 5000, expire=1e6)
    cache.set("other", 1, expire=1e6)
    child = os.fork()
    if child == 0:
        _die_at(cache, step)
        try:
            with cache.transact():
                cache.set("new", "y" * 5000, expire=1e6)
                cache.set("old", "z" * 6000, expire=1e3)
                del cache["other"]
                cache.push("q")
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    again = diskcache.Cache(tmp_path)
    with again.transact():
        pass
    found = {key: again[key] for key in again}
    before = {"old": "x" * 5000, "other": 1}
    after = {"old": "z" * 6000, "new": "y" * 5000, 500_000_000_000_000: "q"}
    assert found in ([after] if status == 0 else [before, after])
    assert len(again) == len(found)
    assert again.check() == []
    # No large value is left that nothing refers to.
    values = list(again._opened().names(b"v"))
    assert len(values) == (1 if found == before else 2)


def _die_at(cache: Any, step: int) -> None:
    """Ends the process at the so-manieth change of the directory, as a kill would."""
    left = [step]
    store = cache._opened()

    def counted(call: Any) -> Any:
        def then(*arguments: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments)

        return then

    class Data:
        get, has, keys = store.data.get, store.data.has, store.data.keys
        set, delete = (staticmethod(counted(call)) for call in (store.data.set, store.data.delete))

    store.data = Data()
    for name in ("begin", "end", "write"):
        setattr(store.control, name, counted(getattr(store.control, name)))


def test_a_writer_that_waits_gives_up(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path, timeout=0.01)
    quiet = diskcache.FanoutCache(tmp_path, timeout=0.01)
    cache["k"] = 1
    with python(
        """
import sys, polycache.diskcache as diskcache
with diskcache.Cache(sys.argv[1]).transact():
    print("in", flush=True)
    sys.stdin.readline()
""",
        tmp_path,
    ) as other:
        assert answer(other) == "in"
        for use in (
            lambda: cache.set("k", 2),
            lambda: cache.add("j", 2),
            lambda: cache.incr("k"),
            lambda: cache.pop("k"),
            lambda: cache.delete("k"),
            lambda: cache.touch("k"),
            lambda: cache.push("k"),
            lambda: cache.pull(),
            lambda: cache.clear(),
            lambda: cache.check(),
            lambda: cache.transact().__enter__(),
        ):
            with pytest.raises(diskcache.Timeout):
                use()
        assert cache["k"] == 1  # Readers wait for nobody.
        assert (quiet.set("k", 2), quiet.add("j", 2), quiet.delete("k")) == (False,) * 3
        assert (quiet.touch("k"), quiet.incr("k"), quiet.decr("k")) == (False, None, None)
        assert (quiet.get("k"), quiet.pop("k", "default")) == (1, "default")
        waiter = threading.Thread(target=lambda: cache.set("k", 3, retry=True))
        waiter.start()
        other.kill()
        waiter.join(LIMIT)
    assert cache["k"] == 3
    # A block of another thread, too.
    with cache.transact():
        refused: list[type] = []

        def write() -> None:
            try:
                cache.set("k", 4)
            except diskcache.Timeout as error:
                refused.append(type(error))

        thread = threading.Thread(target=write)
        thread.start()
        thread.join(LIMIT)
        assert refused == [diskcache.Timeout]


def test_a_fork_within_a_transaction_leaves_it_to_the_parent(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path, timeout=0.01)
    with cache.transact():
        cache["k"] = "parent"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                assert "k" not in cache and len(cache) == 0
                try:
                    cache.set("k", "child")
                except diskcache.Timeout:
                    status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
    assert cache["k"] == "parent"


def test_a_child_that_goes_on_keeps_no_lock_of_its_parent(tmp_path: Path) -> None:
    with python(
        """
import os, sys, time, polycache.diskcache as diskcache
cache = diskcache.Cache(sys.argv[1])
with cache.transact():
    cache["k"] = "never"
    child = os.fork()
    if child == 0:
        time.sleep(1000)
    print(child, flush=True)
    sys.stdin.readline()
""",
        tmp_path,
    ) as parent:
        child = int(answer(parent))
        try:
            parent.kill()
            parent.wait(LIMIT)
            cache = diskcache.Cache(tmp_path)
            cache["k"] = "free"
            assert cache["k"] == "free"
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_handle_is_closed_and_used_by_other_threads(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    ends = time.monotonic() + LIMIT
    done: list[int] = []

    def work() -> None:
        for number in range(300):
            with cache.transact(retry=True):
                cache.incr("sum")
            assert cache["sum"] > number and time.monotonic() < ends
        done.append(1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        cache.close()
        len(cache)
    for thread in threads:
        thread.join(LIMIT)
    assert cache["sum"] == 600 and len(done) == 2
