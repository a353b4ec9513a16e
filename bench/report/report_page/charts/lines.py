"""Lines of subjects over something that grows: shared by the kinds of line charts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from ..amounts import amount, digits
from . import svg

MARKERS = "osD^vPXp"
DASHES: tuple[Any, ...] = ("solid", (0, (4, 1.5)), (0, (1.5, 1.2)))


@dataclass(frozen=True)
class Line:
    """`kind` is ours, ours-too, peer or limit."""

    label: str
    kind: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    title: str
    unit: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Scale:
    """Of the horizontal axis. `even` places its values at equal distances."""

    label: str
    even: bool = False
    # Whether the vertical axis is logarithmic.
    log: bool = False
    names: dict[float, str] | None = None

    def name(self, value: float) -> str:
        return (self.names or {}).get(value) or compact(value)


def compact(value: float) -> str:
    for size, name in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{name}"
    return f"{value:.3g}"


def draw(name: str, title: str, panels: Sequence[Panel], scale: Scale, columns: int = 2) -> str:
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    orders = {
        kind: [label for label in labels if _kind(label, panels) == kind]
        for kind in ("peer", "limit")
    }
    legend = -(-len(labels) // 3) * 0.19
    with svg.figure(name, rows * (2.1 if columns > 1 else 3.0) + legend) as figure:
        axes = figure.subplots(rows, columns, squeeze=False)
        handles: dict[str, Any] = {}
        for number, place in enumerate(axes.flat):
            if number < len(panels):
                _panel(place, panels[number], scale, orders, handles)
                if number + columns >= len(panels):
                    place.set_xlabel(scale.label)
            else:
                place.axis("off")
        figure.legend(
            [handles[label] for label in labels],
            labels,
            loc="outside lower left",
            ncols=3,
            handlelength=2.6,
            labelcolor=svg.INK,
        )
        return svg.markup(figure, f"Line chart. {title}. {_aloud(panels, scale)}")


def _panel(
    axes: Axes,
    panel: Panel,
    scale: Scale,
    orders: Mapping[str, Sequence[str]],
    handles: dict[str, Any],
) -> None:
    values = sorted({x for line in panel.lines for x, _ in line.points})
    at = {x: float(number) if scale.even else x for number, x in enumerate(values)}
    # Ours last, so that it lies above the others.
    for line in sorted(panel.lines, key=lambda one: one.kind.startswith("ours")):
        xs, ys = [at[x] for x, _ in line.points], [y for _, y in line.points]
        (handles[line.label],) = axes.plot(xs, ys, **_look(line, orders))
    if not scale.even and len(values) > 1:
        axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([at[x] for x in values]))
    shown = values if scale.even else apart(values)
    axes.xaxis.set_major_formatter(
        FixedFormatter([scale.name(x) if x in shown else "" for x in values])
    )
    axes.xaxis.set_minor_locator(NullLocator())
    if scale.log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        # A scale of less than two decades would have one name or none.
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 100 else (1,)))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value, panel.unit)))
    axes.grid(axis="y")
    axes.tick_params(length=0)
    axes.set_title(panel.title)


def apart(values: Sequence[float]) -> list[float]:
    """The labels of rising values that do not overlap on a logarithmic axis: the last, and those
    that are far enough from the next."""
    kept: list[float] = []
    room = (values[-1] / values[0]) ** 0.1 if values[0] > 0 else 1
    for value in reversed(values):
        if not kept or kept[-1] / value >= room:
            kept.append(value)
    return kept


def _look(line: Line, orders: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    if line.kind == "ours":
        return {"color": svg.OURS, "linewidth": 2.4, "marker": "o"}
    if line.kind == "ours-too":
        return {"color": svg.OURS_TOO, "linewidth": 2.4, "marker": "s"}
    number = orders[line.kind].index(line.label)
    if line.kind == "limit":
        # A single bound needs no marker.
        marker = {"marker": MARKERS[number % len(MARKERS)], "markerfacecolor": "none"}
        dashed = {"color": svg.INK, "linestyle": (0, (5, 2)), "linewidth": 1.0}
        return dashed | (marker if len(orders["limit"]) > 1 else {})
    return {
        "color": svg.SERIES[number % len(svg.SERIES)],
        "linestyle": DASHES[number // len(svg.SERIES) % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
    }


def _tick(value: float, unit: str) -> str:
    text = amount(value, unit) if value else "0"
    return re.sub(r"\.0+(?= |$)", "", text)


def _kind(label: str, panels: Sequence[Panel]) -> str:
    return next(line.kind for panel in panels for line in panel.lines if line.label == label)


def _aloud(panels: Sequence[Panel], scale: Scale) -> str:
    parts = []
    for panel in panels:
        ends = (
            f"{line.label} from {digits(line.points[0][1])} at {scale.name(line.points[0][0])} "
            f"to {digits(line.points[-1][1])} at {scale.name(line.points[-1][0])}"
            for line in panel.lines
        )
        parts.append(f"{panel.title} ({panel.unit}): " + ", ".join(ends))
    return "; ".join(parts) + "."
