#!/usr/bin/env python3
"""The main job of Polycache on real data; `make demo` calls it. README.md says what it shows."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from driver import checks, cli, hosts, job, loads, records
from driver.cli import shown
from driver.languages import BUILT, BY_NAME
from driver.progress import ProgressBar
from driver.records import Records
from driver.report import Report, duration, table, title_of, together
from driver.server import NoServer, Server
from driver.worker import Worker, WorkerFailed

# Workers go through groups of so many records in the same order, and through each group in an order
# of their own: so all of them load, and often ask for the same record at the same time.
GROUP = 16
# Records that two hosts ask for.
SHARED = 200


class Demo:
    def __init__(self, settings: Mapping[str, str], report: Report) -> None:
        self.report = report
        self.records = records.find(settings.get("INPUT"), int(settings.get("RECORDS") or 1000))
        self.names = self._present(settings.get("WORKERS", "").split())
        self.victim = self._victim(settings.get("VICTIM"))
        self.folder = Path(settings.get("DEMO_DIR") or BUILT.parent).resolve() / "polycache-demo"
        self.cache = self.folder / "cache"
        self.workers: list[Worker] = []

    def _present(self, asked_for: list[str]) -> list[str]:
        """The workers to start; a language asked for twice has two."""
        unknown = set(asked_for) - set(BY_NAME)
        if unknown:
            sys.exit(f"no such worker: {' '.join(unknown)}. There are: {' '.join(BY_NAME)}")
        names: list[str] = []
        count: Counter[str] = Counter()
        missing = {name: BY_NAME[name].missing() for name in dict.fromkeys(asked_for or BY_NAME)}
        for name in asked_for or BY_NAME:
            count[name] += 1
            if not missing[name]:
                names.append(name if count[name] == 1 else f"{name}-{count[name]}")
        self.missing = {name: why for name, why in missing.items() if why}
        if not names:
            sys.exit(f"no worker can run here: {self.missing}")
        return names

    def _victim(self, asked_for: str | None) -> str | None:
        if len(self.names) < 2:
            return None
        if asked_for and asked_for not in self.names:
            sys.exit(f"VICTIM={asked_for} is none of the workers: {' '.join(self.names)}")
        return asked_for or random.choice(self.names)

    def run(self) -> None:
        self.introduce()
        self.prepare()
        try:
            self.workers = [self.start(name) for name in self.names]
            for worker in self.workers:
                worker.answer("start")
            self.main_job()
            self.one_type_map()
            self.no_stale_reads()
            self.costs()
            for worker in self.workers:
                worker.end()
        finally:
            for worker in self.workers:
                worker.kill()
        self.look_inside()
        self.two_hosts()

    def introduce(self) -> None:
        report, data = self.report, self.records
        count = f"{len(data.texts)}"
        if data.total > len(data.texts):
            count += f" of {data.total} (RECORDS={data.total} takes all)"
        languages = {name.partition("-")[0] for name in self.names}
        numbers = ["one language", "two languages", "three languages", "four languages"]
        report.title(f"One cache, {numbers[len(languages) - 1]}, no server")
        report.line(f"  records   {count}: {data.source}")
        several = ", a process each, all started together" if len(self.names) > 1 else ""
        report.line(f"  workers   {together(self.names)}{several}")
        report.line(f"  cache     {shown(self.cache)}")
        report.line("  job       each worker asks for each record, and loads it if there is none")
        if self.victim:
            report.line("            half-way one worker is killed with SIGKILL")
        for name, why in self.missing.items():
            report.skip(f"the {title_of(name)} worker: {why}")

    def prepare(self) -> None:
        """An empty cache, the records, an empty file for the loaders, each worker's order."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.records.write(self.folder / "records.txt")
        self.log.touch()
        for name in self.names:
            order = shuffled(self.records, random.Random(name))
            (self.folder / f"{name}.keys.json").write_text(json.dumps(order))

    @property
    def log(self) -> Path:
        return self.folder / "loads.log"

    def start(self, name: str) -> Worker:
        return self.worker(name, self.folder, self.cache)

    def worker(self, name: str, folder: Path, *places: Path | str) -> Worker:
        """`places` are the cache's directory and perhaps its server."""
        # Room for everything, so that nothing is evicted and loaded again.
        limit = max(64 << 20, 32 * (self.folder / "records.txt").stat().st_size)
        cache, *server = map(str, places)
        arguments = [cache, str(limit), name, *server]
        return Worker(BY_NAME[name.partition("-")[0]], name, arguments, folder)

    def main_job(self) -> None:
        self.report.line()
        keys = self.records.keys
        victim = next((worker for worker in self.workers if worker.name == self.victim), None)
        bar = ProgressBar(sys.stdout, len(keys))
        done = job.run(self.workers, self.log, len(keys), victim, bar)
        bar.end()
        noted = loads.read(self.log)
        verdict = loads.judge(noted, keys, done.kill.worker.pid if done.kill else None)
        self.tell_job(done, noted)
        self.tell_loads(done, noted, verdict)
        self.tell_kill(done, verdict)

    def tell_job(self, done: job.Job, noted: loads.Loads) -> None:
        own = {worker.name: noted.count(worker.pid) for worker in self.workers}
        rows = []
        for worker in self.workers:
            answer = done.done.get(worker.name)
            if answer:
                asked, waited = len(self.records.texts), answer["waited"]
                found = asked - own[worker.name] - waited
                rest = [str(found), str(waited), f"{answer['longest_wait_ms']:.1f} ms"]
            else:
                asked, rest = done.kill.asked if done.kill else 0, ["", "", "killed"]
            rows.append([title_of(worker.name), str(asked), str(own[worker.name]), *rest])
        self.report.title(f"Everything asked for in {done.seconds:.1f} s")
        head = ["", "asked", "loaded", "found", "waited for another's load", "longest wait"]
        self.report.lines(table(head, rows))

    def tell_loads(self, done: job.Job, noted: loads.Loads, verdict: loads.Verdict) -> None:
        details = [f"never loaded: {key}" for key in verdict.never]
        details += [f"loaded more than once: {key}" for key in verdict.too_often]
        details += [f"loaded though not asked for: {key}" for key in verdict.foreign]
        if verdict.again:
            details.append(
                f"one load more, the one that the kill ended: {verdict.again.key}, "
                f"begun anew by {title_of(verdict.again.language)}"
            )
        asked = sum(
            done.kill.asked if done.kill and worker is done.kill.worker else verdict.wanted
            for worker in self.workers
        )
        self.report.check(
            verdict.good,
            f"loaded once {verdict.once}/{verdict.wanted}: "
            f"{len(noted.begun)} loads noted in {shown(self.log)}, asked {asked} times",
            details,
        )

    def tell_kill(self, done: job.Job, verdict: loads.Verdict) -> None:
        if self.victim is None:
            self.report.skip("the kill: it needs two workers")
            return
        if done.kill is None:
            self.report.check(False, f"{title_of(self.victim)} should have been killed half-way")
            return
        kill, total = done.kill, len(self.records.texts)
        name = title_of(kill.worker.name)
        holding = f"while it loaded {kill.held}" if kill.held else "between two loads"
        self.report.check(
            kill.by == signal.SIGKILL,
            f"killed {name}: SIGKILL after {kill.asked} of {total} records, {holding}",
        )
        survivors = [worker.name for worker in self.workers if worker is not kill.worker]
        longest = max(done.done[survivor]["longest_wait_ms"] for survivor in survivors)
        self.report.check(
            set(done.done) == set(survivors),
            f"undisturbed {together(survivors)}: all {total} records each, "
            f"and no wait was longer than {longest:.1f} ms",
        )
        self.workers[self.workers.index(kill.worker)] = again = self.start(kill.worker.name)
        again.answer("start")
        self.report.line(f"      {name} is started again and takes part in what follows")

    def one_type_map(self) -> None:
        pairs = checks.matrix(self.workers)
        self.report.title("One type map: writers (down), readers (across), values that agree")
        cells = {(pair.writer, pair.reader): f"{pair.equal}/{pair.total}" for pair in pairs}
        head = ["", *map(title_of, self.names)]
        rows = [[title_of(w), *(cells[w, r] for r in self.names)] for w in self.names]
        self.report.lines(table(head, rows))
        self.report.checks(
            "matrix: null, bool, integers of any size, float, text, bytes, list, map, set, "
            "timestamp, decimal, UUID",
            [
                (
                    pair.good,
                    f"{title_of(pair.reader)} read from {title_of(pair.writer)}: "
                    + "; ".join(pair.different),
                )
                for pair in pairs
            ],
        )

    def no_stale_reads(self) -> None:
        self.report.title("No stale reads")
        if len(self.workers) < 2:
            self.report.skip("a change seen by the others: it needs two workers")
            return
        self.report.checks(
            "fresh: a change by one language is what the next read of each other one gives",
            [
                (
                    change.good,
                    f"{title_of(change.reader)} read {change.seen!r} "
                    f"after {title_of(change.writer)} had written {change.wanted!r}",
                )
                for change in checks.fresh(self.workers)
            ],
        )

    def costs(self) -> None:
        measures = list(checks.measure(self.workers))
        self.report.title("What a record costs, one worker at a time")
        rows = [
            [
                title_of(one.worker),
                duration(one.hit_ns),
                duration(one.load_ns),
                f"{one.load_ns / one.hit_ns:.0f} x",
            ]
            for one in measures
        ]
        self.report.lines(table(["", "a hit", "a load", "a hit is faster"], rows))
        self.report.line("  a hit: get and decode, median of 21 passes over all records;")
        self.report.line("  a load: the loader alone, mean of 100 records")
        self.report.checks(
            "same: what the cache holds is what the language's own loader makes of the record",
            [
                (one.good, f"{title_of(one.worker)} differs in {' '.join(one.different[:5])}")
                for one in measures
            ],
        )

    def look_inside(self) -> None:
        self.report.title("Look inside: the cache is still there")
        for look in cli.looks(shown(self.cache), self.records.keys):
            self.report.line(f"  $ {look.command}")
            self.report.lines(f"      {line}" for line in look.output)
            self.report.check(look.good, look.says)

    def two_hosts(self) -> None:
        self.report.title("Two hosts: the same code, and a server in between")
        if len(self.names) < 2:
            self.report.skip("two hosts: they need two workers")
            return
        try:
            server = Server(self.folder)
        except NoServer as why:
            self.report.skip(f"two hosts: {why}")
            return
        try:
            self.with_server(server)
        finally:
            server.stop()

    def with_server(self, server: Server) -> None:
        folder = self.folder / "hosts"
        keys = self.records.keys[:SHARED]
        self.prepare_hosts(folder, keys)
        places: dict[Path, list[Worker]] = {folder / "a": [], folder / "b": []}
        workers: list[Worker] = []
        try:
            for number, name in enumerate(self.names):
                place = list(places)[number % 2]
                workers.append(self.worker(name, folder, place, server.url))
                places[place].append(workers[-1])
            for worker in workers:
                worker.answer("start")
            for place, there in places.items():
                names = together(worker.name for worker in there)
                self.report.line(f"  host {place.name}    {names}, directory {shown(place)}")
            self.report.line(f"  server    {server.name} at port {server.port}")
            settled = hosts.settle(workers)
            self.report.check(settled, "listening: one process of each host hears of all writes")
            self.hear(list(places.values()), server)
            self.one_loader(workers, keys, folder)
            server.stop()
            self.without_server(workers, keys, folder)
            for worker in workers:
                worker.end()
        finally:
            for worker in workers:
                worker.kill()

    def prepare_hosts(self, folder: Path, keys: list[str]) -> None:
        folder.mkdir()
        self.records.write(folder / "records.txt")
        (folder / "loads.log").touch()
        for name in self.names:
            (folder / f"{name}.keys.json").write_text(json.dumps(keys))

    def hear(self, both: list[list[Worker]], server: Server) -> None:
        heard = list(hosts.changes(both))
        self.report.checks(
            "heard: a write on one host is read on the other, and then from a copy there; the "
            f"slowest after {max(one.milliseconds for one in heard):.1f} ms",
            [(one.good, told(one)) for one in heard],
        )
        everybody = [worker for host in both for worker in host]
        gone = list(hosts.behind_our_back(everybody, server))
        self.report.line(f"  $ redis-cli -p {server.port} DEL '{hosts.KEY}'")
        self.report.checks(
            "noticed: a plain client's DEL ends the copies on both hosts; the slowest after "
            f"{max(one.milliseconds for one in gone):.1f} ms",
            [(one.good, told(one)) for one in gone],
        )

    def one_loader(self, workers: list[Worker], keys: list[str], folder: Path) -> None:
        log = folder / "loads.log"
        done = job.run(workers, log, len(keys), None, lambda asked, kill: None)
        verdict = loads.judge(loads.read(log), keys)
        self.report.check(
            verdict.good,
            f"loaded once {verdict.once}/{verdict.wanted}: {len(workers)} processes on two hosts "
            f"asked for each record at the same time, {done.seconds:.1f} s",
            [f"loaded more than once: {key}" for key in verdict.too_often],
        )

    def without_server(self, workers: list[Worker], keys: list[str], folder: Path) -> None:
        self.report.line("  the server is killed")
        done = job.run(workers, folder / "loads.log", len(keys), None, lambda asked, kill: None)
        self.report.check(
            len(done.done) == len(workers),
            f"without it all {len(workers)} workers got all {len(keys)} records, from copies and "
            f"by loading, in {done.seconds:.1f} s",
        )


def told(one: hosts.Heard) -> str:
    copy = "" if one.is_copy else ", and asked the server again and again"
    return (
        f"{title_of(one.reader)} read {one.seen!r} after {one.milliseconds:.0f} ms, where "
        f"{one.writer} had made it {one.wanted!r}{copy}"
    )


def shuffled(data: Records, random_source: random.Random) -> list[str]:
    keys = data.keys
    order = []
    for start in range(0, len(keys), GROUP):
        group = keys[start : start + GROUP]
        random_source.shuffle(group)
        order += group
    return order


def main() -> int:
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    report = Report(sys.stdout, colours)
    started = time.monotonic()
    try:
        Demo(os.environ, report).run()
    except (WorkerFailed, records.BadInput) as error:
        report.check(False, str(error))
    except KeyboardInterrupt:
        return 130
    report.line(f"\n{time.monotonic() - started:.1f} s")
    report.line(report.total())
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
