"""README.md's table of all benchmarks beside their peers, from bench/results/*.jsonl.

The counting is the report page's (bench/report), so the two cannot differ.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "report")]

from report_page.amounts import amount, times  # noqa: E402
from report_page.figures import Figure, Results, load  # noqa: E402
from report_page.sections import Section, sections  # noqa: E402
from report_page.standing import Verdict, best, counterpart, times_as_good, verdict_of  # noqa: E402

NONE = "No figures are published yet; `make bench` measures on your machine.\n"

# A benchmark's example is the first of its operations that is one of these, or else its first.
EXAMPLE = re.compile(r"get\b|requests$", re.IGNORECASE)

HEAD = """Every figure of a peer is a row, held against that row of ours which does the same for its
user (isolates values alike, expires entries or not, survives as much): won or lost, or within
10 % and too close to call; ours is empty where it is not built yet. Ratios say how many times as
good ours is.

| | won | lost | too close | empty | for example | best peer | ours | lost most |
|---|---|---|---|---|---|---|---|---|
"""


def block(folder: Path) -> str:
    """What stands between the marks. A benchmark without results is left out."""
    found = [one for one in sections(load(folder)) if one.results and not one.results.problem]
    if not found:
        return NONE
    return HEAD + "".join(f"{_line(one, r)}\n" for one, r in _with_results(found)) + _tail(found)


def _with_results(found: list[Section]) -> Iterator[tuple[Section, Results]]:
    return ((one, one.results) for one in found if one.results)


def _line(section: Section, results: Results) -> str:
    tally = section.tally
    verdicts = (Verdict.WON, Verdict.LOST, Verdict.CLOSE, Verdict.EMPTY)
    name = section.bench.title + (" (a quick run)" if results.quick else "")
    lost = ""
    if section.lost:
        worst = section.lost[0]
        figure = worst.figure
        ratio = times(worst.beside.times) if worst.beside else ""
        lost = f"{ratio}: {figure.subject}, {figure.operation}, {figure.workload}"
    cells = [name, *(str(tally[one]) for one in verdicts), *_example(section, results), lost]
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _example(section: Section, results: Results) -> tuple[str, str, str]:
    """An operation of the main workload, the best peer in it, and ours."""
    figures = results.of(next(iter(section.bench.main_workloads(results)), ""))
    measured = [f for f in figures if f.measured and not section.bench.is_limit(f.subject)]
    own = {f.operation for f in measured if f.is_ours}
    operations = list(dict.fromkeys(f.operation for f in measured if not f.is_ours))
    if not operations:
        return "", "", ""
    # Those that we have a figure of come first.
    operations.sort(key=lambda operation: operation not in own)
    operation = next(filter(EXAMPLE.match, operations), operations[0])
    same = [f for f in measured if f.operation == operation]
    peer = best([f for f in same if not f.is_ours])
    if peer is None:
        return "", "", ""
    ours = counterpart(peer, same)
    example = f"{operation}, {peer.workload}"
    return example, f"{peer.subject} {amount(peer.value, peer.unit)}", _ours(peer, ours)


def _ours(peer: Figure, ours: Figure | None) -> str:
    if ours is None:
        return "empty"
    ratio = times_as_good(ours, peer)
    return f"{amount(ours.value, ours.unit)}: {times(ratio)} **{verdict_of(ratio)}**"


def _tail(found: list[Section]) -> str:
    dates = sorted({str(one.machine.get("date", ""))[:10] for one in found})
    machines = dict.fromkeys(
        f"{one.machine['processor']}, {one.machine.get('cores')} cores"
        for one in found
        if "processor" in one.machine
    )
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return (
        f"\nMeasured {when} on {'; '.join(machines)}.\n"
        "`make report` makes a page of all rows, with the published tables that they grew out of;\n"
        "`make bench` measures on your machine.\n"
    )
