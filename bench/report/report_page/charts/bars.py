"""Bars with the quartiles as whiskers: a panel an operation, a bar a subject."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from . import svg

COLUMNS = 3
# Letters of a title in a line, by the number of columns.
WRAPS = {1: 80, 2: 38, 3: 24}


@dataclass(frozen=True)
class Bar:
    """`kind` is ours, ours-too, peer or limit; `text` stands behind the bar, also where there is
    none."""

    label: str
    kind: str
    text: str
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0


@dataclass(frozen=True)
class Panel:
    title: str
    direction: str
    bars: Sequence[Bar]


COLORS = {"ours": svg.OURS, "ours-too": svg.OURS_TOO, "peer": svg.PEER, "limit": svg.LIMIT}


def draw(name: str, title: str, panels: Sequence[Panel]) -> str:
    """Panels of one row of the picture share the names of their bars."""
    # Four stand better as two and two.
    columns = 2 if len(panels) == 4 else min(COLUMNS, len(panels))
    rows = _rows(panels, columns)
    names = [list(dict.fromkeys(bar.label for panel in row for bar in panel.bars)) for row in rows]
    heights = [0.205 * len(labels) for labels in names]
    with svg.figure(name, sum(heights) + 0.75 * len(rows)) as figure:
        axes = figure.subplots(
            len(rows),
            columns,
            squeeze=False,
            sharey="row",
            gridspec_kw={"height_ratios": [height + 0.2 for height in heights]},
        )
        for row, labels, places in zip(rows, names, axes, strict=True):
            for number, place in enumerate(places):
                if number < len(row):
                    _panel(place, row[number], labels, WRAPS[columns])
                else:
                    place.axis("off")
        return svg.markup(figure, f"Bar chart. {title}. {_aloud(panels)}")


def _rows(panels: Sequence[Panel], columns: int) -> list[list[Panel]]:
    """What is compared in the same way stands together: usually it is the same subjects."""
    rows: list[list[Panel]] = []
    for direction in dict.fromkeys(panel.direction for panel in panels):
        alike = [panel for panel in panels if panel.direction == direction]
        rows += [alike[first : first + columns] for first in range(0, len(alike), columns)]
    return rows


def _panel(axes: Axes, panel: Panel, labels: Sequence[str], wrap: int) -> None:
    most = max((max(bar.value, bar.high) for bar in panel.bars), default=0) or 1
    for bar in panel.bars:
        y = labels.index(bar.label)
        ours = bar.kind.startswith("ours")
        axes.barh(y, bar.value, height=0.62, color=COLORS[bar.kind], linewidth=0)
        if bar.high > bar.low:
            axes.plot([bar.low, bar.high], [y, y], color=svg.INK, linewidth=1, marker="|", ms=4)
        axes.text(
            max(bar.value, bar.high) + most * 0.03,
            y,
            bar.text,
            va="center",
            fontsize=8,
            color=svg.INK if bar.value else svg.MUTED,
            fontweight="bold" if ours else "normal",
        )
    # Room for the text behind the longest bar.
    axes.set_xlim(0, most * 1.55)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_yticks(range(len(labels)), labels)
    kinds = {bar.label: bar.kind for bar in panel.bars}
    for text in axes.get_yticklabels():
        text.set_color(svg.INK)
        if kinds.get(text.get_text(), "").startswith("ours"):
            text.set_fontweight("bold")
    axes.xaxis.set_major_locator(NullLocator())
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    axes.set_title("\n".join(textwrap.wrap(panel.title, wrap)), pad=12)
    axes.text(0, 1.0, panel.direction, transform=axes.transAxes, fontsize=7.5, color=svg.MUTED,
              va="bottom")  # fmt: skip


def _aloud(panels: Sequence[Panel]) -> str:
    parts = (
        f"{panel.title}: " + ", ".join(f"{bar.label} {bar.text}" for bar in panel.bars)
        for panel in panels
    )
    return "; ".join(parts) + "."
