"""The Python part of the matrix of `make check-remote`: does what each line says, and answers by a
line. See ../src/remote/matrix.rs."""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime

from polycache import MISSING, Cache, PolycacheError
from reached import reached

# One of each kind that all languages have.
VALUES: dict[str, object] = {
    "text": "grüße",
    "bytes": b"\x00\xffA",
    "negative": -7,
    "large": 2**40 + 1,
    "float": 1.5,
    "true": True,
    "null": None,
    "list": [1, "two", None],
    "map": {"a": 1, "b": [2.5]},
    "set": {7},
    "time": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
}


def write(cache: Cache, me: str) -> str:
    for name, value in VALUES.items():
        cache.set(f"{me}-{name}", value)
    cache.set(f"{me}-lives", "x", ttl=1000)
    cache.set(f"{me}-ends", "x", ttl=1)
    return "ok"


def read(cache: Cache, who: str) -> str:
    for name, value in VALUES.items():
        found = cache.get(f"{who}-{name}", MISSING)
        if type(found) is not type(value) or found != value:
            return f"{who}-{name} is {found!r}"
    left = cache.ttl(f"{who}-lives")
    return "ok" if left and 990 <= left <= 1000 else f"{who}-lives has {left} left"


def gone(cache: Cache, who: str) -> str:
    return f"{who}-ends has not ended" if cache.has(f"{who}-ends") else "ok"


def load(cache: Cache, me: str, key: str, at: int) -> str:
    ran = "found"

    def loader() -> str:
        nonlocal ran
        ran = "loaded"
        time.sleep(0.1)
        return f"{me}-{os.getpid()}"

    time.sleep(max(0, at - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) / 1e9)
    value = cache.get_or_set(key, loader)
    return f"{ran} {value}"


def main(directory: str, remote: str, me: str) -> None:
    cache = Cache(directory, remote=reached(remote), timeout="10s")
    for line in sys.stdin:
        what, *words = line.split()
        try:
            if what == "write":
                answer = write(cache, me)
            elif what == "load":
                answer = load(cache, me, words[0], int(words[1]))
            else:
                answer = {"read": read, "gone": gone}[what](cache, words[0])
        except PolycacheError as error:
            answer = f"bad: {error}"
        print(answer, flush=True)


main(*sys.argv[1:])
