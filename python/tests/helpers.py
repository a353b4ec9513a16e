"""Running things beside the test, with a limit that only a broken program meets."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
LIMIT = 60.0
"""Seconds."""


def together(*calls: Callable[[], T]) -> list[T]:
    """The results of calls that run in threads at the same time."""
    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call) for call in calls]
        return [future.result(LIMIT) for future in futures]


@contextmanager
def python(program: str, *arguments: Any) -> Iterator[subprocess.Popen[str]]:
    """Another Python process; it is killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=LIMIT)


def answer(process: subprocess.Popen[str]) -> str:
    """The process's next line."""
    assert process.stdout
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], line: str = "") -> None:
    """Gives the process a line."""
    assert process.stdin
    process.stdin.write(line + "\n")
    process.stdin.flush()


def until(true: Callable[[], bool]) -> None:
    """Waits for what another thread brings about, in short looks."""
    pause = threading.Event()
    for _ in range(int(LIMIT * 1000)):
        if true():
            return
        pause.wait(0.001)
    raise AssertionError("it never came to be")


@contextmanager
def full_of_leases(cache: Any) -> Iterator[str]:
    """A small cache without room for a lease of the key that it gives."""
    loads = []
    for number in range(1_000_000):
        loads.append(cache._begin(f"k{number}", None, 0.0))
        assert loads[-1].step() is None
        # No caller joins a load without a lease.
        if cache._begin(f"k{number}", None, 0.0).mine:
            break
    yield f"k{number}"
    for load in loads:
        load.abandon()


def waiting(cache: Any, count: int) -> None:
    """Waits until so many callers wait for loads of the cache in this process."""
    until(lambda: sum(load.waiting for load in cache._loads()) == count)


HOLDER = """
import sys, polycache
def loader():
    print("loading", flush=True)
    return sys.stdin.readline().strip()
cache = polycache.Cache(sys.argv[1], lease_timeout="2m")
print(cache.get_or_set("k", loader), flush=True)
"""
"""A process that loads "k" in the cache of its argument, and returns the line that it is told."""
