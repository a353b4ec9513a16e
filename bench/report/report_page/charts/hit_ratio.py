"""Hit ratios: a panel a trace, a row a policy, a mark a capacity. Lines over the capacity would lie
on each other, because good policies find nearly the same; rows do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from . import lines, svg

COLUMNS = 2
# Inches: of a row, and of a panel's title, axis and legend.
ROW, REST = 0.19, 0.95


def draw(name: str, title: str, panels: Sequence[lines.Panel], names: Mapping[float, str]) -> str:
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    most = max(len(panel.lines) for panel in panels)
    with svg.figure(name, rows * (most * ROW + REST)) as figure:
        places = figure.subplots(rows, columns, squeeze=False)
        for number, place in enumerate(places.flat):
            if number < len(panels):
                _panel(place, panels[number], names)
            else:
                place.axis("off")
        return svg.markup(figure, f"Dot chart. {title}. {_aloud(panels, names)}")


def order(drawn: Sequence[lines.Line]) -> list[lines.Line]:
    """Limits at the top, then by most hits at the capacities that all have."""
    common = set.intersection(*({x for x, _ in one.points} for one in drawn))

    def found(one: lines.Line) -> float:
        return sum(y for x, y in one.points if x in common or not common)

    return sorted(drawn, key=lambda one: (one.kind != "limit", -found(one)))


def _panel(axes: Axes, panel: lines.Panel, names: Mapping[float, str]) -> None:
    rows = order(panel.lines)
    capacities = sorted({x for line in rows for x, _ in line.points})
    for number, capacity in enumerate(capacities):
        points = [
            (ratio * 100, row)
            for row, line in enumerate(rows)
            for x, ratio in line.points
            if x == capacity
        ]
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=svg.SERIES[number % len(svg.SERIES)],
            marker=lines.MARKERS[number % len(lines.MARKERS)],
            linewidth=0.6,
            label=names.get(capacity) or lines.compact(capacity),
        )
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [line.label for line in rows])
    for text, line in zip(axes.get_yticklabels(), rows, strict=True):
        text.set_color(svg.OURS if line.kind.startswith("ours") else svg.INK)
        text.set_fontweight("bold" if line.kind.startswith("ours") else "normal")
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f} %"))
    axes.grid(axis="both")
    axes.tick_params(length=0)
    axes.set_title(panel.title)
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(0, -0.14),
        ncols=len(capacities),
        handlelength=0.8,
        handletextpad=0.4,
        columnspacing=1.0,
        labelcolor=svg.MUTED,
        fontsize=7.5,
    )


def _aloud(panels: Sequence[lines.Panel], names: Mapping[float, str]) -> str:
    parts = []
    for panel in panels:
        found = (
            f"{line.label} "
            + ", ".join(f"{y:.1%} at {names.get(x) or lines.compact(x)}" for x, y in line.points)
            for line in order(panel.lines)
        )
        parts.append(f"{panel.title}: " + "; ".join(found))
    return ". ".join(parts) + "."
