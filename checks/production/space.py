"""Space belongs to data: not to handles, to short processes, or to what was overwritten."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import polycache
from cases import Place, case, expect

GROUP = "space"
VALUE = b"v" * 1000

# Threads that each write and read back; prints how many of their writes were refused or lost.
WRITERS = """
import sys, threading, polycache
path, limit, process, threads, writes = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
cache = polycache.Cache(path, limit=limit)
print("open", flush=True)
sys.stdin.readline()
refused = []
def write(thread):
    for number in range(writes):
        try:
            cache.set(f"{process}.{thread}.{number}", b"v" * 500)
        except polycache.PolycacheError as error:
            refused.append(type(error).__name__)
workers = [threading.Thread(target=write, args=(one,)) for one in range(threads)]
[one.start() for one in workers]
[one.join() for one in workers]
print(len(refused), *sorted(set(refused)))
"""


def evictions(cache: polycache.Cache) -> int:
    stats = cache.stats()
    return stats.evicted_by_age + stats.evicted_by_conflict + stats.evicted_by_failed_put


@case(GROUP, "520 processes that each set one key, beside 10,000 entries in 256 MiB", "0 evicted")
def one_key_processes(place: Place) -> str:
    processes = place.many(520, 60)
    with polycache.Cache(place.path, limit="256MiB") as cache:
        for number in range(10_000):
            cache.set(f"k{number}", VALUE)

        def write(number: int) -> int:
            return place.command("set", "-d", place.path, f"one{number}", "value").returncode

        with ThreadPoolExecutor(4) as pool:
            refused = sum(code != 0 for code in pool.map(write, range(processes)))
        left = sum(f"k{number}" in cache for number in range(10_000))
        written = sum(f"one{number}" in cache for number in range(processes))
        outcome = (
            f"{refused} refused, {left:,} of 10,000 and {written} of {processes} stand, "
            f"{evictions(cache)} evicted"
        )
        expect((refused, left, written, evictions(cache)) == (0, 10_000, processes, 0), outcome)
    return outcome


# Writes its own key, in each language as a short program does.
ONE_KEY = {
    "python": (
        [sys.executable, "-c"],
        "import sys, polycache\n"
        "with polycache.Cache(sys.argv[1], limit='64MiB') as cache: cache.set(sys.argv[2], 1)",
    ),
    "ruby": (
        ["ruby", "-rpolycache", "-e"],
        "Polycache::Cache.new(path: ARGV[0], limit: '64MiB').set(ARGV[1], 1)",
    ),
    "node": (
        ["node", "--input-type=module", "-e"],
        "import { Cache } from './dist/index.js'\n"
        "new Cache({ path: process.argv[1], limit: '64MiB' }).set(process.argv[2], 1)",
    ),
}


@case(GROUP, "short Python, Ruby and Node programs, one key each, that never close", "0 evicted")
def short_programs(place: Place) -> str:
    programs = place.many(60, 6)
    with polycache.Cache(place.path, limit="64MiB") as cache:
        for number in range(10_000):
            cache.set(f"k{number}", VALUE)
        for language, (program, text) in ONE_KEY.items():
            for number in range(programs):
                child = place.program(program, text, place.path, f"{language}{number}")
                place.outcome(child)
        left = sum(f"k{number}" in cache for number in range(10_000))
        written = sum(
            f"{language}{number}" in cache for language in ONE_KEY for number in range(programs)
        )
        outcome = f"{left:,} of 10,000 and {written} of {3 * programs} stand"
        expect((left, written, evictions(cache)) == (10_000, 3 * programs, 0), outcome)
    return outcome


@case(GROUP, "250 forked workers that each write once", "the master's 2,000 entries stand")
def forked_workers(place: Place) -> str:
    workers = place.many(250, 50)
    with polycache.Cache(place.path, limit="256MiB") as cache:
        cache.set("first", VALUE)
        children = []
        for number in range(workers):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    cache.set(f"worker{number}", VALUE)
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        refused = sum(os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) != 0 for one in children)
        for number in range(2_000):
            cache.set(f"master{number}", VALUE)
        left = sum(f"master{number}" in cache for number in range(2_000))
        outcome = f"{refused} workers refused, {left:,} of 2,000 stand"
        expect((refused, left) == (0, 2_000), outcome)
    return outcome


@case(GROUP, "1,000 idle handles that wrote once, in 256 MiB", "every one writes, and others too")
def idle_handles(place: Place) -> str:
    handles = [
        polycache.Cache(place.path, limit="256MiB", namespace=str(number))
        for number in range(1_000)
    ]
    try:
        for number, handle in enumerate(handles):
            handle.set("k", number)
        stand = sum(handle.get("k") == number for number, handle in enumerate(handles))
        other = place.command("set", "-d", place.path, "other", "value").returncode
        outcome = f"{stand:,} of 1,000 stand, the command's set ends with {other}"
        expect((stand, other) == (1_000, 0), outcome)
    finally:
        for handle in handles:
            handle.close()
    return outcome


def crowd(place: Place, processes: int, limit: str) -> str:
    """Processes of five threads that write at the same time."""
    children = [
        place.python(WRITERS, place.path, limit, str(number), "5", "20")
        for number in range(processes)
    ]
    for child in children:
        assert child.stdout
        child.stdout.readline()
    for child in children:
        assert child.stdin
        child.stdin.write("\n")
        child.stdin.flush()
    answers = [place.outcome(child) for child in children]
    refused = sum(int(answer.split()[0]) for answer in answers)
    causes = {cause for answer in answers for cause in answer.split()[1:]}
    outcome = f"{refused} of {processes * 100:,} writes refused {' '.join(sorted(causes))}".strip()
    expect(refused == 0, outcome)
    return outcome


@case(GROUP, "128 processes of 5 threads write at the same time, in 8 MiB", "none is refused")
def crowd_in_8_mib(place: Place) -> str:
    return crowd(place, place.many(128, 24), "8MiB")


@case(GROUP, "20 processes of 5 threads write at the same time, in 2 MiB", "none is refused")
def crowd_in_2_mib(place: Place) -> str:
    return crowd(place, 20, "2MiB")


@case(GROUP, "a key overwritten 250,000 times, beside 10,000 that nobody reads", "0 evicted")
def hot_key(place: Place) -> str:
    with polycache.Cache(place.path, limit="256MiB") as cache:
        for number in range(10_000):
            cache.set(f"k{number}", VALUE)
        for _ in range(place.many(500_000, 250_000)):
            cache.set("hot", VALUE)
        left = sum(f"k{number}" in cache for number in range(10_000))
        outcome = f"{left:,} of 10,000 stand, {evictions(cache)} evicted"
        expect(left == 10_000, outcome)
    return outcome


@case(GROUP, "a quarter of the limit in use, others overwritten, deleted, expired", "0 evicted")
def working_set(place: Place) -> str:
    with polycache.Cache(place.path, limit="16MiB") as cache:
        own = 4_000
        for number in range(own):
            cache.set(f"k{number}", VALUE)
        for number in range(place.many(200_000, 60_000)):
            key = f"other{number % 500}"
            cache.set(key, VALUE, ttl="1ms" if number % 3 == 0 else "1h")
            if number % 3 == 1:
                cache.delete(key)
        left = sum(f"k{number}" in cache for number in range(own))
        outcome = f"{left:,} of {own:,} stand, {evictions(cache)} evicted"
        expect(left == own, outcome)
    return outcome


@case(GROUP, "threads that come and go, each with one write", "none is refused, none evicts")
def short_threads(place: Place) -> str:
    with polycache.Cache(place.path, limit="8MiB") as cache:
        count = place.many(5_000, 1_000)
        for start in range(0, count, 50):
            threads = [
                threading.Thread(target=cache.set, args=(f"t{number}", VALUE))
                for number in range(start, start + 50)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        stand = sum(f"t{number}" in cache for number in range(count))
        outcome = f"{stand:,} of {count:,} stand"
        expect(stand == count, outcome)
    return outcome
