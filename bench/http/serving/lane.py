"""A server under load, as the harness takes turns with it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from harness.bench import Group, Setting
from harness.lane import Figure
from harness.redis_server import Redis
from harness.subject import Subject
from harness.worker import Unavailable

from . import answer, load, stream
from .server import Ready, Server

# As on the page: 200 requests, three times; the third counts.
REQUESTS, TIMES = 200, 3
# Requests of the check.
CHECKED = 3
# How many of these may reach Redis, by what a server says that it does (lib/ready.mjs).
READS = {
    "each request": range(CHECKED, CHECKED + 1),
    "once a second": range(CHECKED),
    "after a change": range(1),
    "never": range(1),
}


class ServerLane(ABC):
    """What the two kinds of load share: a server that has proved its work."""

    operations: Sequence[str] = ["requests"]

    def __init__(self, subject: Subject, setting: Setting) -> None:
        if not setting.redis.port:
            raise Unavailable("no redis-server here")
        stream.fill(setting.redis)
        folder = setting.folder / subject.name
        folder.mkdir(parents=True)
        self.subject = subject.name
        self.command = subject.command
        self.environment = os.environ | {
            "NODE_ENV": "production",
            "REDIS_PORT": str(setting.redis.port),
            "CACHE_DIRECTORY": str(folder / "cache"),
        }
        self.server: Server | None = self._start()
        try:
            self.smallest = check(self.server.ready, setting.redis, answers_alone(subject.name))
            self.versions: Mapping[str, str] = {"wrk": load.version(), **self.server.ready.versions}
            self.notes: Sequence[str] = notes(self.server.ready, self.smallest)
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def run(self, operation: str, seconds: float) -> list[Figure]:
        """The figures of one turn."""

    def close(self) -> None:
        if self.server:
            self.server.close()
        self.server = None

    def _start(self) -> Server:
        return Server(self.command, self.environment)


class Sustained(ServerLane):
    """The server stays, idle while it is not its turn."""

    def run(self, operation: str, seconds: float) -> list[Figure]:
        assert self.server
        url = self.server.ready.url
        figures = load.for_seconds(url, seconds).figures(self.smallest)
        # What wrk no longer waits for is answered first, or it would take the next one's time. And
        # the answer is still right.
        answer.check(answer.fetch(url), stream.entries(), answers_alone(self.subject))
        return figures


class Fresh(ServerLane):
    """A new server for each round, as a user of the page's command gets it."""

    def __init__(self, subject: Subject, setting: Setting) -> None:
        super().__init__(subject, setting)
        self.close()

    def run(self, operation: str, seconds: float) -> list[Figure]:
        self.server = self._start()
        try:
            url = self.server.ready.url
            for _ in range(TIMES):
                figures = load.of_requests(url, REQUESTS).figures(self.smallest)
        finally:
            self.close()
        return figures


def answers_alone(subject: str) -> bool:
    """Whether such a server answers the entries alone, without the page's fields around them."""
    return "-value-" in subject


def check(ready: Ready, redis: Redis, alone: bool) -> int:
    """Holds answers against the stream and counts what reached Redis. The fewest bytes that an
    answer may have."""
    wanted = stream.entries()
    # The first may connect, or load what is kept.
    answer.check(answer.fetch(ready.url), wanted, alone)
    before = stream.reads(redis)
    bodies = [answer.fetch(ready.url) for _ in range(CHECKED)]
    read = stream.reads(redis) - before
    for body in bodies:
        answer.check(body, wanted, alone)
    if read not in READS[ready.reads]:
        raise Unavailable(f"{read} of {CHECKED} requests read Redis, it says: {ready.reads}")
    return min(len(body.encode()) for body in bodies)


def notes(ready: Ready, size: int) -> list[str]:
    return [f"reads Redis {ready.reads}", f"answers {size:,} B", *ready.notes]


def open_sustained(subject: Subject, group: Group, setting: Setting) -> ServerLane:
    return Sustained(subject, setting)


def open_fresh(subject: Subject, group: Group, setting: Setting) -> ServerLane:
    return Fresh(subject, setting)
