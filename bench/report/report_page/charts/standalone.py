"""A picture of the page as a file of its own, with the page's colours for light and dark."""

from __future__ import annotations

import re
from pathlib import Path

THEME = Path(__file__).resolve().parent.parent / "templates" / "theme.css"
FONT = "svg { font-family: system-ui, sans-serif; background: var(--paper); }"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def file(markup: str) -> str:
    """`markup` is what `svg.markup` returns."""
    start, end, rest = markup.partition(">")
    if not start.startswith("<svg"):
        raise ValueError(f"no picture: {start[:40]}")
    used = names(markup + FONT)
    lines = [
        line
        for line in THEME.read_text(encoding="utf-8").splitlines()
        if not (name := re.match(r"\s*--([\w-]+):", line)) or name[1] in used
    ]
    style = "\n".join([*lines, FONT])
    return f"{HEAD}{start}{end}<style>\n{style}\n</style>{rest}\n"


def names(markup: str) -> set[str]:
    """The colours that are used in it."""
    return set(re.findall(r"var\(--([\w-]+)\)", markup))
