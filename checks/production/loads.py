"""A source that fails, is slow, or whose loader is killed: no request is multiplied or hangs."""

from __future__ import annotations

import os
import signal
import threading
import time

import polycache
from cases import Place, case, expect, seconds

GROUP = "loads"


def together(callers: int, call: object) -> None:
    threads = [threading.Thread(target=call) for _ in range(callers)]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@case(GROUP, "60 callers, and the source fails after 0.3 s", "1 load; all have the error in 2 x")
def failing_source(place: Place) -> str:
    loads, errors = [], []
    with polycache.Cache(place.path) as cache:

        def load() -> None:
            loads.append(1)
            time.sleep(0.3)
            raise OSError("the source is down")

        def call() -> None:
            try:
                cache.get_or_set("k", load)
            except OSError as error:
                errors.append(error)

        began = time.monotonic()
        together(60, call)
        took = time.monotonic() - began
    outcome = f"{len(loads)} loads, {len(errors)} errors, {took:.1f} s"
    expect(len(loads) == 1 and len(errors) == 60 and took < 3, outcome)
    return outcome


@case(GROUP, "a loader slower than lease_timeout", "its value is stored; at most 2 loads")
def slow_loader(place: Place) -> str:
    loads, values = [], []
    with polycache.Cache(place.path, lease_timeout="1s") as cache:

        def load() -> int:
            loads.append(1)
            time.sleep(2)
            return 7

        began = time.monotonic()
        together(30, lambda: values.append(cache.get_or_set("k", load)))
        stored = cache.get("k")
        outcome = f"{len(loads)} loads, {len(values)} values, stored: {stored}, {seconds(began)}"
        expect(len(loads) <= 2 and values == [7] * 30 and stored == 7, outcome)
    return outcome


@case(GROUP, "7 of 8 loading workers are killed", "the next caller has a value")
def killed_loaders(place: Place) -> str:
    with polycache.Cache(place.path, lease_timeout="1s", wait_timeout="10s") as cache:
        children = []
        for _ in range(8):
            child = os.fork()
            if child == 0:
                try:
                    cache.get_or_set("k", lambda: time.sleep(60))
                finally:
                    os._exit(0)
            children.append(child)
        try:
            time.sleep(0.5)
            for child in children[:7]:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            began = time.monotonic()
            value = cache.get_or_set("k", lambda: 2)
            took = time.monotonic() - began
        finally:
            os.kill(children[7], signal.SIGKILL)
            os.waitpid(children[7], 0)
        outcome = f"{value} after {took:.1f} s"
        expect(value == 2 and took < 5, outcome)
    return outcome
