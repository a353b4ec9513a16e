#!/usr/bin/env python3
"""A live Redis stream over HTTP; `make demo-http` calls it. README.md says what it shows."""

from __future__ import annotations

import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "demo")]

from driver.report import Report, table  # noqa: E402
from driver.server import NoServer, Server  # noqa: E402
from serving import change, load, stream  # noqa: E402
from serving.client import Client  # noqa: E402
from serving.program import DidNotStart, Kind, Program  # noqa: E402

PLAIN = Kind("plain")
OURS = (Kind("node-http"), Kind("bun"))
# Changes that are made; turns of the load, so that what else the machine does meets all servers.
CHANGES, TURNS = 3, 3


class Demo:
    def __init__(self, report: Report, seconds: float) -> None:
        self.report = report
        # Of each load.
        self.seconds = seconds
        self.kinds: list[Kind] = []
        self.clients: dict[str, Client] = {}
        self.urls: dict[str, str] = {}

    def run(self) -> None:
        self.report.title("A live Redis stream over HTTP, at the speed of constant bytes")
        if PLAIN.missing():
            self.report.skip(f"everything: {PLAIN.missing()} (tools/setup.sh node)")
            return
        with ExitStack() as open_things:
            folder = open_things.enter_context(tempfile.TemporaryDirectory())
            try:
                redis = Server(Path(folder))
            except NoServer as why:
                self.report.skip(f"everything: {why} (tools/setup.sh redis installs one)")
                return
            open_things.callback(redis.stop)
            self.start(redis, open_things)
            self.same_answer()
            self.change_shows(redis)
            self.not_again()
            self.speed()

    def start(self, redis: Server, open_things: ExitStack) -> None:
        stream.fill(redis)
        self.report.line(f"  Redis    {redis.name} at port {redis.port}, started for this demo")
        self.report.line(f"  stream   {stream.KEY}, {len(stream.entries())} entries")
        for kind in (PLAIN, *OURS):
            if kind.missing():
                self.report.skip(f"{kind.command}: {kind.missing()}")
                continue
            program = open_things.enter_context(Program(kind, redis.url))
            self.kinds.append(kind)
            self.urls[kind.name] = program.url
            self.clients[kind.name] = open_things.enter_context(Client(program.url))
            self.report.line(f"  server   {program.url:<24} {kind.command:<18} {about(kind)}")

    def same_answer(self) -> None:
        self.report.title("The same answer")
        answers = {name: client.ask() for name, client in self.clients.items()}
        plain = answers[PLAIN.name]
        for kind in self.kinds[1:]:
            same = answers[kind.name].without_times == plain.without_times
            self.report.check(
                same and answers[kind.name].status == 200,
                f"{kind.command} answers the same {len(plain.body):,} bytes as {PLAIN.command}, "
                "but for the times in it",
            )

    def change_shows(self, redis: Server) -> None:
        self.report.title("A change that somebody else makes in Redis")
        for kind in self.kinds:
            seen = [self.one_change(redis, kind, number) for number in range(CHANGES)]
            longest = max(one.after for one in seen) * 1e3
            requests = max(one.requests for one in seen)
            which = (
                "the next response" if requests == 1 else f"one of the next {requests} responses"
            )
            self.report.check(
                all(one.good for one in seen),
                f"{kind.command}: {which} had the new entry, after {longest:.1f} ms or less"
                if all(one.good for one in seen)
                else f"{kind.command}: a response after more than {change.BOUND:.0f} s had not",
                count=len(seen),
            )
        self.report.line(f"  Cached reads promise {change.BOUND:.0f} s at most (`maxStaleness`).")

    def one_change(self, redis: Server, kind: Kind, number: int) -> change.Seen:
        # Larger than the ids of the stream, and than those of servers asked before.
        identifier = f"{1_900_000_000_000 + self.kinds.index(kind)}-{number}"
        words = ["XADD", stream.KEY, identifier, "color", "teal"]
        client = self.clients[kind.name]
        client.ask()
        if shutil.which("redis-cli"):
            if number == 0:
                self.report.line(f"  $ redis-cli -p {redis.port} {' '.join(words)}")
            subprocess.run(
                ["redis-cli", "-p", str(redis.port), *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        else:
            redis.command(*words)
        return change.wait_for(client, identifier, time.monotonic())

    def not_again(self) -> None:
        self.report.title("A client that has the value is told so, without the value")
        for kind in self.kinds[1:]:
            client = self.clients[kind.name]
            etag = client.ask().fields["etag"]
            again = client.ask(if_none_match=etag)
            self.report.line(f"  $ curl -H 'If-None-Match: {etag}' {self.urls[kind.name]}")
            self.report.check(
                (again.status, again.body) == (304, b""),
                f"{kind.command}: status {again.status}, {len(again.body)} bytes",
            )

    def speed(self) -> None:
        self.report.title(
            f"Requests a second: {load.CONNECTIONS} connections, median of {TURNS} turns of "
            f"{self.seconds:g} s"
        )
        rates: dict[str, list[float]] = {kind.name: [] for kind in self.kinds}
        for _ in range(TURNS):
            for kind in self.kinds:
                rates[kind.name].append(load.put(self.urls[kind.name], self.seconds).rate)
        medians = {name: statistics.median(found) for name, found in rates.items()}
        plain = medians[PLAIN.name]
        rows = [
            [kind.command, f"{medians[kind.name]:,.0f}", f"{medians[kind.name] / plain:.1f} x"]
            for kind in self.kinds
        ]
        self.report.lines(table(["", "requests a second", "as many as plain"], rows))
        self.report.line("  Servers, Redis and the load share this machine's processors.")
        self.report.line("  `make bench-http` measures more servers, and with more care.")


def about(kind: Kind) -> str:
    return "reads Redis each time" if kind == PLAIN else "cached(client).json and endpoint"


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    report = Report(sys.stdout, colours)
    try:
        seconds = float(os.environ.get("SECONDS_EACH") or 1)
    except ValueError:
        sys.exit("SECONDS_EACH is the length of a load in seconds: SECONDS_EACH=0.5")
    if not 0 < seconds <= 60:
        sys.exit("SECONDS_EACH is more than 0 and at most 60 seconds")
    # What was started ends, too, where only this process is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        Demo(report, seconds).run()
    except (DidNotStart, load.LoadFailed) as error:
        report.check(False, str(error))
    except KeyboardInterrupt:
        return 130
    report.line()
    report.line(report.total())
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
