"""Hit ratio over capacity: a panel a trace, a line a policy, OPT as the bound."""

from __future__ import annotations

from collections.abc import Sequence

from . import lines


def draw(
    name: str, title: str, panels: Sequence[lines.Panel], capacity: str, names: dict[float, str]
) -> str:
    scale = lines.Scale(capacity, names=names)
    return lines.draw(name, title, panels, scale)
