"""The picture of stores that grow, as a file that stands alone."""

from __future__ import annotations

from .charts import growth, standalone
from .charts.lines import Line, Panel
from .figures import Results
from .growth import Curve, curves

# Values of other sizes are in the table.
VALUE_BYTES = 100


def picture(results: Results) -> str:
    """An SVG; nothing where nothing was measured at two sizes."""
    panels: dict[tuple[str, str], list[Line]] = {}
    for curve in curves(results):
        if curve.value_bytes == VALUE_BYTES and len(curve.points) > 1 and _positive(curve):
            kind = "ours" if curve.is_ours else "peer"
            line = Line(curve.subject, kind, curve.points)
            panels.setdefault((curve.operation, curve.unit), []).append(line)
    if not panels:
        return ""
    title = f"Disk caches that grow, values of {VALUE_BYTES} B"
    drawn = [
        Panel(operation, unit, lines)
        for (operation, unit), lines in panels.items()
        # What only ours can have stands in the table.
        if any(line.kind == "peer" for line in lines)
    ]
    return standalone.file(growth.draw("disk-growth", title, drawn, "entries")) if drawn else ""


def _positive(curve: Curve) -> bool:
    """The axes are logarithmic."""
    return all(value > 0 for _, value in curve.points)
