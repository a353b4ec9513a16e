"""The time of an operation while the entries become more, or larger: both axes logarithmic."""

from __future__ import annotations

from collections.abc import Sequence

from . import lines


def draw(name: str, title: str, panels: Sequence[lines.Panel], axis: str) -> str:
    return lines.draw(name, title, panels, lines.Scale(axis, log=True))
