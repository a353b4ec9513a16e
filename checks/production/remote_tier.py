"""Machines that share a cache through a server: short processes, idle handles, kills, a server that
hangs, changed options, full disks, sources that fail or take longer than every timeout."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polycache
from cases import ROOT, Place, Skipped, case, expect

sys.path.insert(0, str(ROOT / "python" / "tests"))

from servers import INSTALLED, Server, started

GROUP = "remote"
# A command on a busy machine that waits for its turn is no fault of the server's.
PATIENT = "5s"
# For what has to come to pass.
SOON = 20

# Holds a load, tells of it, and ends only by a signal.
HOLDS = """
import sys, time, polycache
cache = polycache.Cache(sys.argv[1], remote=sys.argv[2], timeout="5s")
def load():
    print("loads", flush=True)
    time.sleep(600)
cache.get_or_set("held", load)
"""

# A preloaded cache that workers inherit by fork; prints how many of them could not use it.
FORKS = """
import os, sys, polycache
cache = polycache.Cache(sys.argv[1], remote=sys.argv[2], timeout="5s")
cache.set("shared", "master's")
children = []
for number in range(int(sys.argv[3])):
    child = os.fork()
    if child == 0:
        fine = cache.get("shared") == "master's"
        cache.set(f"worker{number}", number)
        fine = fine and cache.get(f"worker{number}") == number
        fine = fine and cache.get_or_set("loaded", lambda: "once") == "once"
        if number % 2:
            os.kill(os.getpid(), 9)
        os._exit(0 if fine else 1)
    children.append(child)
codes = [os.waitpid(child, 0)[1] for child in children]
bad = sum(code not in (0, 9) for code in codes)
left = sum(cache.get(f"worker{number}") == number for number in range(len(children)))
print(bad, left, cache.get("shared"))
"""


@contextmanager
def a_server() -> Iterator[Server]:
    if not INSTALLED:
        raise Skipped("neither Redis nor Valkey is installed")
    with started(INSTALLED[0]) as server:
        yield server


def until(holds: object) -> bool:
    end = time.monotonic() + SOON
    while not holds():  # type: ignore[operator]
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def listens(cache: polycache.Cache) -> bool:
    def fresh() -> bool:
        cache.get("anything")
        stats = cache.remote_stats()
        return stats is not None and stats.listens

    return until(fresh)


def threads_of(process: int) -> int:
    return len(os.listdir(f"/proc/{process}/task"))


@case(GROUP, "500 processes that each set one key on a server and read another", "all do")
def short_processes(place: Place) -> str:
    processes = place.many(500, 60)
    with a_server() as server:
        remote = ("-r", server.url)

        def work(number: int) -> bool:
            wrote = place.command("set", *remote, f"one{number}", "value").returncode == 0
            read = place.command("get", *remote, f"one{number}")
            return wrote and read.returncode == 0 and "value" in read.stdout

        with ThreadPoolExecutor(4) as pool:
            fine = sum(pool.map(work, range(processes)))
        with polycache.Cache(remote=server.url, timeout=PATIENT) as cache:
            stand = sum(f"one{number}" in cache for number in range(processes))
    outcome = f"{fine} of {processes} processes, {stand} entries"
    expect(fine == stand == processes, outcome)
    return outcome


@case(
    GROUP,
    "1,000 handles of a directory over a server, each used once, then idle",
    "one connection listens, the threads sleep, another machine's write is seen by all",
)
def idle_handles(place: Place) -> str:
    handles = place.many(1000, 100)
    with a_server() as server, polycache.Cache(remote=server.url, timeout=PATIENT) as other:
        other.set("k", 1)
        caches = [
            polycache.Cache(place.path, remote=server.url, timeout=PATIENT) for _ in range(handles)
        ]
        read = sum(cache.get("k") == 1 for cache in caches)
        expect(listens(caches[0]), "nobody listens")
        time.sleep(3)
        before = time.process_time()
        time.sleep(2)
        busy = (time.process_time() - before) / 2
        other.set("k", 2)
        until(lambda: caches[-1].get("k") == 2)
        seen = sum(cache.get("k") == 2 for cache in caches)
        clients = subprocess.run(
            ["redis-cli", "-p", str(server.port), "CLIENT", "LIST"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        tracking = sum(" flags=t" in line for line in clients.splitlines())
        for cache in caches:
            cache.close()
        ended = until(lambda: threads_of(os.getpid()) < 20)
    outcome = (
        f"{read} of {handles} read, {seen} see the write, {tracking} connections listen, "
        f"{busy:.2f} of a processor idle, threads {'ended' if ended else 'stay'}"
    )
    # The other machine listens, too.
    expect(read == seen == handles and tracking <= 2 and ended, outcome)
    return outcome


@case(GROUP, "workers forked from a process that uses the server, half are killed", "all use it")
def forked_workers(place: Place) -> str:
    workers = place.many(60, 20)
    with a_server() as server:
        forks = place.python(FORKS, place.path, server.url, str(workers))
        said, complaints = forks.communicate(timeout=60)
    outcome = said.strip() or complaints.strip().splitlines()[-1]
    expect(said.split() == ["0", str(workers), "master's"], outcome)
    return f"{workers} workers, no one failed"


@case(
    GROUP,
    "a loader's process is killed, its machine goes on; another machine wants the value",
    "it loads within 5 s",
)
def killed_loader(place: Place) -> str:
    return _killed(place, beside=True, within=5)


@case(GROUP, "a machine's only process is killed while it loads", "another one loads within 12 s")
def killed_machine(place: Place) -> str:
    return _killed(place, beside=False, within=12)


def _killed(place: Place, beside: bool, within: float) -> str:
    with a_server() as server, ExitStack() as stack:
        if beside:
            neighbour = polycache.Cache(place.path, remote=server.url, timeout=PATIENT)
            listens(stack.enter_context(neighbour))
        holder = place.python(HOLDS, place.path, server.url)
        assert holder.stdout
        expect(holder.stdout.readline() == "loads\n", "the loader did not begin")
        holder.send_signal(signal.SIGKILL)
        began = time.monotonic()
        with polycache.Cache(remote=server.url, timeout=PATIENT) as cache:
            value = cache.get_or_set("held", lambda: "loaded")
        took = time.monotonic() - began
    outcome = f"{value} after {took:.1f} s"
    expect(value == "loaded" and took < within, outcome)
    return outcome


@case(
    GROUP,
    "a source takes longer than lease_timeout and wait_timeout; 8 callers on two machines",
    "all get a value, at most 2 loads a process",
)
def slow_source(place: Place) -> str:
    loads: list[float] = []
    values: list[object] = []

    def load() -> str:
        loads.append(time.monotonic())
        time.sleep(3)
        return "slow"

    def want(cache: polycache.Cache) -> None:
        try:
            values.append(cache.get_or_set("k", load))
        except polycache.WaitTimeout:
            values.append("waited in vain")

    with a_server() as server:
        caches = [
            polycache.Cache(
                place.folder / name,
                remote=server.url,
                timeout=PATIENT,
                lease_timeout="500ms",
                wait_timeout="1s",
            )
            for name in ("one", "other")
        ]
        callers = [threading.Thread(target=want, args=(caches[n % 2],)) for n in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        found = [cache.get("k") for cache in caches]
        for cache in caches:
            cache.close()
    outcome = f"{len(loads)} loads, {values.count('slow')} values, then {found}"
    expect(len(values) == 8 and len(loads) <= 4 and found == ["slow", "slow"], outcome)
    return outcome


@case(GROUP, "a server that hangs under 8 threads", "no call takes 5 timeouts, all load")
def hung_server(place: Place) -> str:
    with a_server() as server:
        cache = polycache.Cache(place.path, remote=server.url, timeout="200ms")
        cache.set("k", "v")
        listens(cache)
        server.process.send_signal(signal.SIGSTOP)
        slowest, failed = 0.0, 0

        def use(thread: int) -> None:
            nonlocal slowest, failed
            for number in range(20):
                began = time.monotonic()
                loaded = cache.get_or_set(f"k{thread}.{number}", lambda: "loaded")
                slowest = max(slowest, time.monotonic() - began)
                failed += loaded != "loaded"

        users = [threading.Thread(target=use, args=(one,)) for one in range(8)]
        for user in users:
            user.start()
        for user in users:
            user.join()
        server.process.send_signal(signal.SIGCONT)

        def writes() -> bool:
            try:
                cache.set("k", "again")
            except polycache.RemoteUnavailable:
                return False
            return True

        back = until(writes)
        cache.close()
    outcome = f"slowest {slowest:.2f} s, {failed} failed, {'back' if back else 'not back'} after it"
    expect(slowest < 5 * 0.2 + 1 and failed == 0 and back, outcome)
    return outcome


@case(GROUP, "a deploy that changes max_staleness, timeout and limit", "nothing is lost")
def changed_options(place: Place) -> str:
    with a_server() as server:
        old = polycache.Cache(place.path, remote=server.url, timeout=PATIENT)
        for number in range(1000):
            old.set(f"k{number}", number)
        listens(old)
        new = polycache.Cache(
            place.path, remote=server.url, timeout="3s", max_staleness="5s", limit="64MiB"
        )
        through = polycache.Cache(place.path, remote=server.url, timeout=PATIENT, max_staleness=0)
        read = [
            sum(cache.get(f"k{number}") == number for number in range(1000))
            for cache in (old, new, through)
        ]
        new.set("k1", "new")
        agree = until(lambda: all(cache.get("k1") == "new" for cache in (old, new, through)))
        other = polycache.Cache(place.path, remote=server.url, timeout=PATIENT, prefix="apart")
        apart = other.get("k1")
        for cache in (old, new, through, other):
            cache.close()
    outcome = f"{read} of 1,000, {'agree' if agree else 'differ'}, another prefix has {apart}"
    expect(read == [1000] * 3 and agree and apart is None, outcome)
    return outcome


@case(GROUP, "a disk without room under the copies", "reads and writes go on by the server")
def full_disk(place: Place) -> str:
    mount = place.folder / "small"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mount)], capture_output=True
    )
    if made.returncode != 0:
        raise Skipped("no right to mount a small file system")
    try:
        return _full_disk(mount)
    finally:
        subprocess.run(["umount", str(mount)], check=False)


def _full_disk(mount: Path) -> str:
    with a_server() as server:
        cache = polycache.Cache(mount / "cache", remote=server.url, timeout=PATIENT)
        listens(cache)
        (mount / "filler").write_bytes(b"")
        try:
            with (mount / "filler").open("wb") as filler:
                while True:
                    filler.write(b"x" * 4096)
                    filler.flush()
        except OSError:
            pass
        for number in range(300):
            cache.set(f"k{number}", "v" * 5000)
        read = sum(cache.get(f"k{number}") == "v" * 5000 for number in range(300))
        read += sum(cache.get(f"k{number}") == "v" * 5000 for number in range(300))
        loaded = cache.get_or_set("loaded", lambda: "x" * 5000)
        cache.close()
    outcome = f"{read} of 600 reads, a load of {len(loaded)}"
    expect(read == 600 and len(loaded) == 5000, outcome)
    return outcome


@case(GROUP, "a source that fails while 8 callers on two machines wait", "once a caller at most")
def failing_source(place: Place) -> str:
    loads, errors = [], []

    def load() -> str:
        loads.append(1)
        time.sleep(0.2)
        raise RuntimeError("the source is down")

    def want(cache: polycache.Cache) -> None:
        try:
            cache.get_or_set("k", load)
        except RuntimeError as error:
            errors.append(str(error))

    with a_server() as server:
        caches = [
            polycache.Cache(place.folder / name, remote=server.url, timeout=PATIENT)
            for name in ("one", "other")
        ]
        callers = [threading.Thread(target=want, args=(caches[n % 2],)) for n in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        for cache in caches:
            cache.close()
    outcome = f"{len(loads)} loads, {len(errors)} of 8 told"
    # Those of a process share one failure.
    expect(len(errors) == 8 and len(loads) <= 4, outcome)
    return outcome
