"""What the page says of each benchmark, as data for the template."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from .benches import BENCHES, Bench, bench_of
from .figures import Figure, Results
from .published import Page, Table
from .published import load as load_page
from .standing import ALL_OPERATIONS, COUNTED, DURABILITY, Standing, Verdict, count, isolation
from .standing import standings as stand
from .strength import strongest

Column = tuple[str, str]

# Peers that are shown before the others are unfolded.
FIRST = 5

# The size of a round is not a property of a subject.
EFFORT = re.compile(r"^\d+ operations a round$")


@dataclass(frozen=True)
class Line:
    """A subject in a table: a standing for each column, or one reason for all of them."""

    subject: str
    is_ours: bool
    is_limit: bool
    cells: Sequence[Standing | None]
    notes: Sequence[str] = ()
    reason: str = ""
    # For our empty cells: the operation of ours that peers are compared with instead.
    instead: Sequence[str] = ()


@dataclass(frozen=True)
class Workload:
    """A table of the section, subjects by operations, and every figure of it one by one."""

    name: str
    columns: Sequence[Column]
    lines: Sequence[Line]
    standings: Sequence[Standing]
    open: bool = False

    @property
    def tally(self) -> Counter[Verdict]:
        return count(self.standings)

    @property
    def first(self) -> list[Line]:
        """The strongest peers, and those rows of ours that they are compared with."""
        peers = strongest(self.standings, FIRST)
        beside = {
            one.beside.reference
            for one in self.standings
            if one.beside and one.figure.subject in peers
        }
        ours = [one for one in self.lines if one.is_ours]
        ours = [one for one in ours if one.subject in beside] or ours[:1]
        by_name = {one.subject: one for one in self.lines}
        return ours + [by_name[name] for name in peers]

    @property
    def rest(self) -> list[Line]:
        """All others: of ours, of peers, what could not be measured, and limits at the end."""
        first = {one.subject for one in self.first}
        rest = [one for one in self.lines if one.subject not in first]
        return sorted(rest, key=lambda one: one.is_limit)

    @property
    def notes(self) -> list[tuple[str, str]]:
        """(subject, notes): first those that all subjects have in common, if they are many."""
        noted = [line for line in self.lines if line.notes]
        shared = [note for note in noted[0].notes if _in_all(note, noted)] if len(noted) > 1 else []
        own = [
            (line.subject, "; ".join(note for note in line.notes if note not in shared))
            for line in noted
        ]
        return [("All", "; ".join(shared)) for _ in shared[:1]] + [one for one in own if one[1]]

    @property
    def single(self) -> list[Standing]:
        """Rows of the long table, an operation after the other."""
        order = {column: number for number, column in enumerate(self.columns)}
        last = len(order)
        return sorted(self.standings, key=lambda one: order.get(_column(one.figure), last))


@dataclass(frozen=True)
class Lead:
    """The best of the operations that ours and at least one peer were measured in."""

    ours: int = 0
    close: int = 0
    peers: int = 0

    @property
    def total(self) -> int:
        return self.ours + self.close + self.peers

    def __str__(self) -> str:
        return f"{self.ours} of {self.total}"


@dataclass(frozen=True)
class Section:
    bench: Bench
    results: Results | None
    page: Page | None
    published: Sequence[Table]
    workloads: Sequence[Workload]
    lead: Lead = field(default_factory=Lead)
    # The same, apart by what the caches of a race hand out, where that differs: "clone", "none".
    leads: Mapping[str, Lead] = field(default_factory=dict)

    @property
    def tally(self) -> Counter[Verdict]:
        return sum((one.tally for one in self.workloads), Counter())

    @property
    def counted(self) -> list[Standing]:
        """Every row of a peer that is compared with one of ours, the worst for us first."""
        all = [one for workload in self.workloads for one in workload.standings]
        found = [one for one in all if one.verdict in COUNTED]
        return sorted(found, key=lambda one: one.beside.times if one.beside else 0)

    @property
    def lost(self) -> list[Standing]:
        """Rows in which a peer is better, the worst for us first."""
        return [one for one in self.counted if one.verdict == Verdict.LOST]

    @property
    def best(self) -> Standing | None:
        """The best that is a number: beside a peer that finds nothing, any is infinitely more."""
        finite = [one for one in self.counted if one.beside and isfinite(one.beside.times)]
        return finite[-1] if finite else None

    @property
    def worst(self) -> Standing | None:
        return self.counted[0] if self.counted else None

    @property
    def typical(self) -> Standing | None:
        """The row in the middle: as many are better for us as worse."""
        return self.counted[len(self.counted) // 2] if self.counted else None

    @property
    def limits(self) -> list[str]:
        found = (line.subject for one in self.workloads for line in one.lines if line.is_limit)
        return list(dict.fromkeys(found))

    @property
    def has_ours(self) -> bool:
        return any(line.is_ours for one in self.workloads for line in one.lines)

    @property
    def missing(self) -> list[tuple[str, str, bool]]:
        """(who, why, whether it is ours) of all that could not be measured, said once each."""
        found: dict[tuple[str, str, bool], list[str]] = {}
        for workload in self.workloads:
            for one in workload.standings:
                figure = one.figure
                if not figure.measured:
                    what = "" if figure.operation == ALL_OPERATIONS else f", {figure.operation}"
                    key = (figure.subject + what, figure.reason, figure.is_ours)
                    found.setdefault(key, []).append(workload.name)
        return list(found)

    @property
    def machine(self) -> dict[str, Any]:
        return self.results.machine if self.results else {}


def sections(results: dict[str, Results]) -> list[Section]:
    """All known ones, and behind them unknown results."""
    unknown = [bench_of(name) for name in results if name not in {b.name for b in BENCHES}]
    return [section(bench, results.get(bench.name)) for bench in (*BENCHES, *unknown)]


def section(bench: Bench, results: Results | None) -> Section:
    page = load_page(bench.page) if bench.page else None
    published = page.of(bench.name) if page else []
    if results is None:
        return Section(bench, None, page, published, [])
    main = bench.main_workloads(results)
    workloads = [workload(bench, results, name, name in main) for name in results.workloads]
    # The seed's main tables come first.
    workloads.sort(key=lambda one: not one.open)
    kinds = _isolations(workloads)
    leads = {kind: lead(workloads, kind) for kind in kinds} if len(kinds) > 1 else {}
    return Section(bench, results, page, published, workloads, lead(workloads), leads)


def _isolations(workloads: Sequence[Workload]) -> list[str]:
    """Copies first: what isolates is what most want."""
    found = {
        isolation(one.figure)
        for workload in workloads
        for one in workload.standings
        if one.verdict in COUNTED
    }
    return sorted(found)


def workload(bench: Bench, results: Results, name: str, open: bool) -> Workload:
    figures = results.of(name)
    found = stand(figures, bench.is_limit)
    columns = _columns(figures)
    # Ours first.
    subjects = dict.fromkeys(one.subject for one in sorted(figures, key=lambda f: not f.is_ours))
    lines = [_line(bench, subject, columns, found) for subject in subjects]
    return Workload(name, columns, lines, found, open)


def _columns(figures: Sequence[Figure]) -> list[Column]:
    """A row that failed before its unit was known has its operation's column, if there is one."""
    with_unit = {one.operation for one in figures if one.unit}
    return list(
        dict.fromkeys(
            _column(one)
            for one in figures
            if one.operation != ALL_OPERATIONS and (one.unit or one.operation not in with_unit)
        )
    )


def _line(bench: Bench, subject: str, columns: Sequence[Column], rows: Sequence[Standing]) -> Line:
    found = [one for one in rows if one.figure.subject == subject]
    measured = [one for one in found if one.figure.measured]
    limits = [one.verdict == Verdict.LIMIT for one in measured]
    by_column = {_column(one.figure): one for one in found}
    whole = [one.figure.reason for one in found if one.figure.operation == ALL_OPERATIONS]
    return Line(
        subject=subject,
        is_ours=found[0].figure.is_ours,
        is_limit=all(limits) if limits else all(bench.is_limit(one.figure) for one in found),
        cells=[by_column.get(column) or by_column.get((column[0], "")) for column in columns],
        notes=_common([one.figure for one in measured]),
        reason=next(iter(whole), ""),
        instead=[_instead(column, rows) for column in columns] if found[0].figure.is_ours else (),
    )


def _instead(column: Column, all: Sequence[Standing]) -> str:
    return next((one.of for one in all if one.of and _column(one.figure) == column), "")


def lead(workloads: Sequence[Workload], only: str | None = None) -> Lead:
    """Of races between caches that isolate alike (`only` those that isolate so): a peer that loses
    in one way of doing it and wins in another has won."""
    verdicts: list[set[Verdict]] = []
    for one in workloads:
        races: dict[tuple[str, str, str], set[Verdict]] = {}
        for standing in one.standings:
            figure, kind = standing.figure, isolation(standing.figure)
            if standing.verdict in COUNTED and only in (None, kind):
                race = (standing.of or figure.operation, figure.unit, kind)
                races.setdefault(race, set()).add(standing.verdict)
        verdicts += races.values()
    peers = sum(Verdict.LOST in found for found in verdicts)
    ours = sum(found == {Verdict.WON} for found in verdicts)
    return Lead(ours, len(verdicts) - peers - ours, peers)


def _in_all(note: str, lines: Sequence[Line]) -> bool:
    return all(note in line.notes for line in lines)


def _common(figures: Sequence[Figure]) -> list[str]:
    """Notes that hold for all of a subject's operations: its durability, its isolation. The others
    are in the long table."""
    if not figures:
        return []
    shared = [note for note in figures[0].notes if all(note in one.notes for one in figures)]
    return [DURABILITY.get(note, note) for note in shared if not EFFORT.search(note)]


def _column(one: Figure) -> Column:
    return one.operation, one.unit
