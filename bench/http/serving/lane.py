"""A server under load, as the harness takes turns with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from harness.bench import Group, Setting
from harness.lane import Figure
from harness.redis_server import Redis
from harness.subject import BENCH, Subject, environment
from harness.worker import Unavailable

from . import answer, load, stream, usage
from .load import Load
from .server import Ready, Server
from .writes import BOUNDS, Delays, Writes

# What subjects in Python import; those in Ruby and JavaScript name their files.
PYTHON = BENCH / "http" / "python" / "lib"
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
    """What the two kinds of load share: a server that has proved its work. With `writes_a_second`
    the stream changes while it is under load."""

    operations: Sequence[str] = ["requests"]

    def __init__(self, subject: Subject, setting: Setting, writes_a_second: float = 0) -> None:
        if not setting.redis.port:
            raise Unavailable("no redis-server here")
        stream.fill(setting.redis)
        folder = setting.folder / subject.name
        folder.mkdir(parents=True)
        self.subject = subject.name
        self.redis = setting.redis
        self.writes_a_second = writes_a_second
        self.command = subject.command
        self.environment = dict(environment(python=[PYTHON])) | {
            "NODE_ENV": "production",
            "REDIS_PORT": str(setting.redis.port),
            "CACHE_DIRECTORY": str(folder / "cache"),
        }
        self.server: Server | None = self._start()
        try:
            ready = self.server.ready
            self.smallest = check(ready, setting.redis, answers_alone(subject.name))
            # Of all rounds; of those that never change there is nothing to say.
            self.delays = Delays(BOUNDS[ready.reads]) if ready.reads in BOUNDS else None
            self.versions: Mapping[str, str] = {"wrk": load.version(), **ready.versions}
            self.says = notes(ready, self.smallest)
        except BaseException:
            self.close()
            raise

    @property
    def notes(self) -> Sequence[str]:
        if self.delays and self.writes_a_second:
            return [*self.says, self.delays.note()]
        return self.says

    @abstractmethod
    def run(self, operation: str, seconds: float) -> list[Figure]:
        """The figures of one turn."""

    def close(self) -> None:
        if self.server:
            self.server.close()
        self.server = None

    def _start(self) -> Server:
        return Server(self.command, self.environment)

    def _under(self, put: Callable[[str], Load]) -> list[Figure]:
        """The figures of a load, while the stream changes where it should."""
        assert self.server
        url, group = self.server.ready.url, self.server.process.pid
        with self._writes(url) as writes:
            before = usage.now(group, self.redis)
            found = put(url)
            after = usage.now(group, self.redis)
            memory = usage.memory(group)
        figures = [*found.figures(self.smallest), *after.figures(before, found.requests), memory]
        if writes and self.delays:
            self.delays.add(writes.delays)
            writes.delays.require()
            figures += writes.delays.figures()
        return figures

    def _writes(self, url: str) -> AbstractContextManager[Writes | None]:
        if not self.writes_a_second:
            return nullcontext()
        if self.delays is None:
            # As many changes as the others have; it does not show them.
            return Writes(self.redis, url, None, self.writes_a_second)
        return Writes(self.redis, url, self.delays.bound, self.writes_a_second)


class Sustained(ServerLane):
    """The server stays, idle while it is not its turn."""

    def run(self, operation: str, seconds: float) -> list[Figure]:
        assert self.server
        figures = self._under(lambda url: load.for_seconds(url, seconds))
        # What wrk no longer waits for is answered first, or it would take the next one's time. And
        # the answer is still right.
        wanted = stream.current(self.redis) if self.delays else stream.entries()
        body = answer.fetch(self.server.ready.url)
        answer.check(body, wanted, answers_alone(self.subject))
        return figures


class Fresh(ServerLane):
    """A new server for each round, as a user of the page's command gets it."""

    def __init__(self, subject: Subject, setting: Setting, writes_a_second: float = 0) -> None:
        super().__init__(subject, setting, writes_a_second)
        self.close()

    def run(self, operation: str, seconds: float) -> list[Figure]:
        self.server = self._start()
        try:
            for _ in range(TIMES):
                figures = self._under(lambda url: load.of_requests(url, REQUESTS))
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
    return Sustained(subject, setting, **group.options)


def open_fresh(subject: Subject, group: Group, setting: Setting) -> ServerLane:
    return Fresh(subject, setting, **group.options)
