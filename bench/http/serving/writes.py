"""A client that changes the stream while a server is under load, and reads what it wrote.

Each write is an XADD that trims the stream to its length, with the fields of the entry that goes,
so answers keep their size. After each write the client asks the server until an answer has the new
entry. The delay of a write is the time from Redis' reply to it until that answer was there, so it
includes the time that the server takes to answer under load.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from threading import Event, Thread
from types import TracebackType
from urllib.parse import urlsplit

from harness.lane import Figure
from harness.redis_server import Redis
from harness.row import MILLISECONDS
from harness.worker import Unavailable

from . import stream

# By what a server says of its reads (lib/ready.mjs): the seconds after which an answer to a new
# request must have a write. One that reads each time must have it at once; `once a second` is a
# promise only about when it reads, and a constant never changes.
BOUNDS = {"each request": 0.0, "after a change": 1.0, "once a second": math.inf}
# Seconds after which a write counts as lost.
PATIENCE = 30
# The client's pauses between answers without the write, in seconds: it must not be a load itself.
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.02


@dataclass
class Delays:
    """What became of writes. `late` counts answers without a write whose bound was over."""

    bound: float
    seconds: list[float] = field(default_factory=list)
    asked: int = 0
    late: int = 0

    def add(self, other: Delays) -> None:
        self.seconds += other.seconds
        self.asked += other.asked
        self.late += other.late

    def figures(self) -> list[Figure]:
        return [
            Figure("own write 50%", MILLISECONDS, statistics.median(self.seconds) * 1e3),
            Figure("own write 99%", MILLISECONDS, percentile(self.seconds, 99) * 1e3),
            Figure("own write longest", MILLISECONDS, max(self.seconds) * 1e3),
        ]

    def require(self) -> None:
        """Raises Unavailable where an answer was further behind than the server says."""
        if self.late:
            raise Unavailable(
                f"{self.late} of {self.asked} answers were more than {self.bound:g} s behind"
            )

    def note(self) -> str:
        """Of all rounds together."""
        if not self.seconds:
            return "no own writes yet"
        found = [statistics.median(self.seconds), percentile(self.seconds, 99), max(self.seconds)]
        half, most, longest = (f"{one * 1e3:.1f}" for one in found)
        told = (
            f"{len(self.seconds)} own writes read after {half} ms (99 %: {most}, {longest} at most)"
        )
        if math.isinf(self.bound):
            return told
        return f"{told}, {self.late} answers more than {self.bound:g} s behind"


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class Writes:
    """Writes as long as it is entered, the first time at once. When it is left, the last write has
    been read, too."""

    def __init__(self, redis: Redis, url: str, bound: float | None, a_second: float) -> None:
        """Without a `bound` it only writes: the server is one that does not show changes."""
        self.delays = Delays(math.inf if bound is None else bound)
        self._reads = bound is not None
        self._redis = redis
        self._url = url
        self._interval = 1 / a_second
        self._over = Event()
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run)

    def __enter__(self) -> Writes:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        if self._failure and error is None:
            raise self._failure

    def _run(self) -> None:
        at = urlsplit(self._url)
        connection = HTTPConnection(at.hostname or "", at.port, timeout=PATIENCE)
        try:
            self._write(connection, at.path or "/")
        except (OSError, HTTPException) as error:
            self._failure = Unavailable(f"its answer to a writing client: {error!r}")
        except BaseException as error:
            self._failure = error
        finally:
            connection.close()

    def _write(self, connection: HTTPConnection, path: str) -> None:
        entries = stream.current(self._redis)
        last = entries[-1][0]
        due = time.monotonic()
        number = 0
        while number == 0 or not self._over.wait(due - time.monotonic()):
            last = after(last)
            stream.append(self._redis, last, entries[number % len(entries)][1])
            if self._reads:
                self._read(connection, path, last, time.monotonic())
            number += 1
            # A write that took long to be seen is not made up for.
            due = max(due + self._interval, time.monotonic())

    def _read(self, connection: HTTPConnection, path: str, written: str, at: float) -> None:
        wanted = written.encode()
        pause = 0.0
        while True:
            sent = time.monotonic()
            connection.request("GET", path)
            body = connection.getresponse().read()
            received = time.monotonic()
            self.delays.asked += 1
            if wanted in body:
                self.delays.seconds.append(received - at)
                return
            self.delays.late += sent > at + self.delays.bound
            if received > at + PATIENCE:
                raise Unavailable(f"no answer had a write after {PATIENCE} s")
            pause = min(max(FIRST_PAUSE, 2 * pause), LONGEST_PAUSE)
            time.sleep(pause)


def after(identifier: str) -> str:
    """An id of this moment that is larger than that one, and as long."""
    milliseconds = int(identifier.split("-")[0])
    return f"{max(time.time_ns() // 1_000_000, milliseconds + 1)}-0"
