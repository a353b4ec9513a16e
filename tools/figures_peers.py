"""docs/benchmarks.md's tables of all benchmarks beside their peers, from bench/results/*.jsonl.

The counting is the report's (bench/report), so the two cannot differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "report")]

from report_page.amounts import amount, margin  # noqa: E402
from report_page.figures import load  # noqa: E402
from report_page.sections import Lead, Section, sections  # noqa: E402
from report_page.standing import HANDS_OUT, Standing, Verdict  # noqa: E402

NONE = "No figures are published yet; `make bench` measures on your machine.\n"

HEAD = """| | fastest of all in | level | a peer is faster | typical row | best row | worst row |
|---|---|---|---|---|---|---|
"""


def block(folder: Path) -> str:
    """How each benchmark stands, a line each. One without results is left out."""
    found = _measured(folder)
    if not found:
        return NONE
    return HEAD + "".join(f"{_line(one)}\n" for one in found) + _tail(found)


def limits(folder: Path) -> str:
    """What is shown in each benchmark and not counted."""
    lines = [f"- {one.bench.title}: {', '.join(one.limits)}" for one in _measured(folder)
             if one.limits]  # fmt: skip
    return "\n".join(lines) + "\n" if lines else NONE


def sentences(folder: Path, first: str) -> str:
    """What the README says, in three sentences at most: the first is given."""
    found = _measured(folder)
    if not found:
        return NONE
    total = Lead(
        sum(one.lead.ours for one in found),
        sum(one.lead.close for one in found),
        sum(one.lead.peers for one in found),
    )
    host = next((f"{one.lead} operations beside stores that processes share, and in "
                 for one in found if one.bench.name == "host" and one.lead.total), "")  # fmt: skip
    second = (
        f"It is fastest of all in {host}{total} over all {len(found)} benchmarks, level in "
        f"{total.close}, and a peer is faster in {total.peers}."
    )
    third = "[Every benchmark](docs/benchmarks.md), with the rows that we lose."
    return "\n".join(filter(None, (first, second, third))) + "\n"


def _measured(folder: Path) -> list[Section]:
    return [one for one in sections(load(folder)) if one.results and not one.results.problem]


def _line(section: Section) -> str:
    quick = section.results is not None and section.results.quick
    name = section.bench.title + (" (a quick run)" if quick else "")
    apart = ", ".join(f"{HANDS_OUT[kind]} {lead}" for kind, lead in section.leads.items())
    lead = section.lead
    best = f"**{lead}**" + (f" ({apart})" if apart else "") if lead.total else "ours is empty"
    rows = (section.typical, section.best, section.worst)
    cells = [name, best, str(lead.close), str(lead.peers), *map(_row, rows)]
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _row(one: Standing | None) -> str:
    if one is None or one.beside is None:
        return ""
    figure = one.figure
    how = "level" if one.verdict == Verdict.CLOSE else margin(one.beside.times, figure.unit)
    median = amount(figure.value, figure.unit)
    return f"{how}: {figure.subject} {median}, {figure.operation}, {figure.workload}"


def _tail(found: list[Section]) -> str:
    dates = sorted({str(one.machine.get("date", ""))[:10] for one in found})
    machines = dict.fromkeys(
        f"{one.machine['processor']}, {one.machine.get('cores')} cores"
        for one in found
        if "processor" in one.machine
    )
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"\nMeasured {when} on {'; '.join(machines)}.\n"
