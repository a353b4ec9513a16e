"""Latency by percentile: a line a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import lines

SCALE = lines.Scale("percentile of the requests", even=True)


def draw(
    name: str,
    title: str,
    servers: Mapping[str, Sequence[tuple[float, float]]],
    kinds: Mapping[str, str],
    unit: str = "ms",
) -> str:
    """`servers` have (percentile, latency)."""
    drawn = [lines.Line(label, kinds[label], sorted(at)) for label, at in servers.items()]
    percentiles = {x for points in servers.values() for x, _ in points}
    scale = lines.Scale(SCALE.label, even=True, names={x: f"{x:g} %" for x in percentiles})
    return lines.draw(name, title, [lines.Panel(title, unit, drawn)], scale, columns=1)
