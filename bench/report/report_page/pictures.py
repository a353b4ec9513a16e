"""Which figures of a benchmark become which picture."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.row import BESIDE_A_LIMIT, HIT_RATIO, REQUESTS_PER_SECOND, more_is_better

from .amounts import TIMES, amount
from .benches import Bench
from .charts import bars, growth, hit_ratio, latency
from .charts.lines import Line, Panel
from .figures import Figure, Results
from .published import Page
from .quantities import HOLE, Quantity, quantities
from .standing import ALL_OPERATIONS, family, standings
from .strength import strongest

# More panels than these are left to the tables, and so are more peers.
MOST_PANELS = 12
MOST_PEERS = 5
PERCENTILE = re.compile(r"(?:\bp|percentile |latency )(\d\d(?:\.\d+)?)\b|\b(\d\d(?:\.\d+)?) ?%")
# What the axis says already.
COUNTED = {"", "keys", "entries", "each", "bytes each"}
NEXT = re.compile(r"\bnext\b", re.IGNORECASE)


@dataclass(frozen=True)
class Picture:
    svg: str
    title: str
    caption: str


def pictures(bench: Bench, results: Results) -> list[Picture]:
    if not any(one.measured for one in results.figures):
        return []
    if bench.name == "hit-ratio":
        return _hit_ratios(bench, results)
    drawn = _served(bench, results) if bench.name == "http" else _main(bench, results)
    return drawn + _growth(bench, results)


def published_pictures(bench: Bench, page: Page) -> list[Picture]:
    """The charts of the HTTP page, from its own figures."""
    table = next((one for one in page.of(bench.name) if "req/s" in one.columns), None)
    if bench.name != "http" or table is None:
        return []
    figures = [
        Figure("published", row[0], operation, unit, value, value, value, 1, ())
        for row in table.rows
        for column, text in zip(table.columns[1:], row[1:], strict=True)
        for value in [float(text)]
        for operation, unit in [
            ("requests", REQUESTS_PER_SECOND)
            if column == "req/s"
            else (f"latency {column.split()[0]} %", "ms")
        ]
    ]
    return _charts_of_servers(bench, "published", figures, "as published")


PEERS = "The five strongest peers, and limits."


def _some(bench: Bench, figures: Sequence[Figure]) -> list[Figure]:
    """Of the figures of a workload those of ours, of the strongest peers and of limits: more bars
    or lines than that can be looked at, but not read."""
    limits = _limits(bench, figures)
    found = standings(figures, bench.is_limit)
    peers = strongest(found, MOST_PEERS)
    beside = {one.beside.reference for one in found if one.beside and one.figure.subject in peers}
    shown = {*peers, *limits, *beside}
    if not beside:
        shown |= {one.subject for one in figures if one.is_ours}
    return [one for one in figures if one.subject in shown]


# Bars of a table


def _main(bench: Bench, results: Results) -> list[Picture]:
    found = []
    for workload in bench.main_workloads(results):
        figures = results.of(workload)
        panels = _panels(bench, _some(bench, figures))
        if panels:
            shown = panels[:MOST_PANELS]
            svg = bars.draw(f"{bench.name} {workload}", f"{bench.title}: {workload}", shown)
            rest = len(panels) - len(shown)
            more = f" {rest} more operations are in the table." if rest else ""
            caption = f"medians; whiskers are the quartiles. {PEERS}{more}"
            found.append(Picture(svg, workload, caption))
    return found


def _panels(bench: Bench, figures: Sequence[Figure]) -> list[bars.Panel]:
    """One for each operation; ways of doing the same stand together (`put` and `put, batches`),
    where the plain one is there."""
    plain = {(one.operation, one.unit) for one in figures}
    grouped: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for one in figures:
        if one.operation != ALL_OPERATIONS and one.unit:
            kin = (family(one.operation), one.unit)
            grouped[kin if kin in plain else (one.operation, one.unit)].append(one)
    kinds = _kinds(bench, figures)
    return [
        bars.Panel(operation, _direction(unit), [_bar(kinds, operation, one) for one in same])
        for (operation, unit), same in grouped.items()
        if any(one.measured for one in same)
    ]


def _bar(kinds: Mapping[str, str], operation: str, one: Figure) -> bars.Bar:
    way = one.operation.removeprefix(operation).removeprefix(", ")
    label = f"{one.subject}, {way}" if way else one.subject
    kind = kinds[one.subject]
    if not one.measured:
        return bars.Bar(label, kind, "empty" if one.is_ours else "not measured")
    low, high = one.low or one.value, one.high or one.value
    return bars.Bar(label, kind, amount(one.value, one.unit), one.value, low, high)


def _kinds(bench: Bench, figures: Sequence[Figure]) -> dict[str, str]:
    """How a subject is drawn: the first of ours stands out most."""
    ours = [one.subject for one in figures if one.is_ours and one.measured]
    limits = _limits(bench, figures)
    kinds = {}
    for one in figures:
        mine = "ours" if one.subject in ours[:1] else "ours-too"
        peer = "limit" if one.subject in limits else "peer"
        kinds[one.subject] = mine if one.is_ours else peer
    return kinds


def _limits(bench: Bench, figures: Sequence[Figure]) -> set[str]:
    """Subjects that are limits in all that they do."""
    peers = {one.subject for one in figures if not bench.is_limit(one)}
    return {one.subject for one in figures} - peers


def _direction(unit: str) -> str:
    return "more is better" if more_is_better(unit) else "less is better"


# The three charts of the HTTP page


def _served(bench: Bench, results: Results) -> list[Picture]:
    found = []
    for workload in results.workloads[:2]:
        figures = _some(bench, results.of(workload))
        found += _charts_of_servers(bench, workload, figures, workload)
    return found


def _charts_of_servers(
    bench: Bench, name: str, figures: Sequence[Figure], about: str
) -> list[Picture]:
    found = []
    kinds = _kinds(bench, figures)
    rates = [one for one in figures if one.unit == REQUESTS_PER_SECOND]
    if any(one.measured for one in rates):
        drawn = [_bar(kinds, one.operation, one) for one in rates]
        panel = bars.Panel("Requests per second", "more is better", drawn)
        svg = bars.draw(f"{name} rates", f"Requests per second, {about}", [panel])
        caption = "medians; whiskers are the quartiles."
        found.append(Picture(svg, f"Requests per second, {about}", caption))
    for title, next_ones in (("Server latency", False), ("Next latency", True)):
        lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
        unit = ""
        for one in figures:
            if one.unit in BESIDE_A_LIMIT:
                continue
            match = PERCENTILE.search(one.operation)
            if match and one.measured and bool(NEXT.search(one.subject)) == next_ones:
                lines[one.subject].append((float(match[1] or match[2]), one.value))
                unit = one.unit
        if lines:
            svg = latency.draw(f"{name} {title}", f"{title}, {about}", lines, kinds, unit)
            caption = "by percentile of the requests; less is better."
            found.append(Picture(svg, f"{title}, {about}", caption))
    return found


# Hit ratios


def _hit_ratios(bench: Bench, results: Results) -> list[Picture]:
    """The capacity is a number in the operation, or else the last one in the workload."""
    traces: dict[str, dict[str, list[tuple[float, float]]]] = {}
    names: dict[float, str] = {}
    kinds = _kinds(bench, results.figures)
    for one in results.figures:
        if one.unit != HIT_RATIO or not one.measured:
            continue
        found = quantities(one.operation) or quantities(one.workload)[-1:]
        if not found:
            continue
        trace = one.workload if quantities(one.operation) else found[0].around
        if re.search(f"{HOLE} ?%", found[0].around):
            names[found[0].value] = f"{found[0].text} %"
        trace = trace.replace(HOLE, "").strip(" ,%")
        line = traces.setdefault(trace, {}).setdefault(one.subject, [])
        line.append((found[0].value, one.value))
    panels = [
        Panel(trace, HIT_RATIO, [_line(kinds, name, points) for name, points in lines.items()])
        for trace, lines in traces.items()
    ]
    if not panels:
        return []
    svg = hit_ratio.draw("hit ratios", "Hit ratio by capacity", panels, names)
    caption = (
        "a row a policy, a mark a capacity: further right is better, and OPT at the top is the "
        "bound. A line joins the marks of one capacity."
    )
    return [Picture(svg, "Hit ratio by capacity", caption)]


def _line(kinds: Mapping[str, str], subject: str, points: Sequence[tuple[float, float]]) -> Line:
    return Line(subject, kinds[subject], sorted(points))


# Growth


def _growth(bench: Bench, results: Results) -> list[Picture]:
    """Workloads that differ in one number only: entries, or bytes a value."""
    found = []
    for axis, of_bytes in (("entries", False), ("bytes a value", True)):
        panels = _growing(bench, results, of_bytes)
        if panels:
            shown = panels[:MOST_PANELS]
            title = f"{bench.title}: growth with {axis}"
            svg = growth.draw(f"{bench.name} {axis}", title, shown, axis)
            cut = f" The first {len(shown)} of {len(panels)}." if len(shown) < len(panels) else ""
            caption = f"the time of an operation; both axes are logarithmic. {PEERS}{cut}"
            found.append(Picture(svg, f"Growth with {axis}", caption))
    return found


def _growing(bench: Bench, results: Results, of_bytes: bool) -> list[Panel]:
    lines: dict[tuple[str, str, str], dict[str, list[tuple[float, float]]]] = {}
    figures = _some(bench, results.figures)
    kinds = _kinds(bench, figures)
    plain = {one.operation for one in figures}
    for one in figures:
        if not one.measured or one.value <= 0 or one.unit not in TIMES:
            continue
        # Another way of doing the same is left to the tables.
        if family(one.operation) != one.operation and family(one.operation) in plain:
            continue
        for quantity in quantities(one.workload):
            if quantity.is_bytes == of_bytes and _counts(quantity):
                panel = lines.setdefault((quantity.around, one.operation, one.unit), {})
                panel.setdefault(one.subject, []).append((quantity.value, one.value))
    return [
        Panel(
            f"{_without_hole(around)}: {operation}".removeprefix(": "),
            unit,
            [_line(kinds, name, points) for name, points in drawn.items() if len(points) > 1],
        )
        for (around, operation, unit), drawn in lines.items()
        if any(len(points) > 1 for points in drawn.values())
    ]


def _without_hole(around: str) -> str:
    """`rust, 100 B` for `rust, 100 B, … keys`; what says more than the axis stays."""
    kept = (part for part in around.split(", ") if part.replace(HOLE, "").strip() not in COUNTED)
    return ", ".join(kept)


def _counts(quantity: Quantity) -> bool:
    """0.9 is a parameter of a distribution, 4 may be a number of threads."""
    return quantity.is_bytes or quantity.value >= 10
