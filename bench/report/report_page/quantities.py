"""Numbers in the names of workloads and operations: `100 B, 10k keys`, `capacity 1,000`."""

from __future__ import annotations

import re
from dataclasses import dataclass

PATTERN = re.compile(
    r"(?<![\w.])(?P<number>\d[\d,]*(?:\.\d+)?) ?(?P<thousands>[kKM](?![\w]))? ?"
    r"(?P<bytes>(?:[KMG]i?)?B\b|bytes\b)?(?![\w.])"
)
THOUSANDS = {"k": 1e3, "K": 1e3, "M": 1e6}
BYTES = {"B": 1.0, "bytes": 1.0, "KB": 1e3, "KiB": 1024.0, "MB": 1e6, "MiB": 1024.0**2}
HOLE = "…"


@dataclass(frozen=True)
class Quantity:
    """A number in a text. `around` is the text with a hole in its place."""

    value: float
    text: str
    is_bytes: bool
    around: str


def quantities(text: str) -> list[Quantity]:
    found = []
    for match in PATTERN.finditer(text):
        value = float(match["number"].replace(",", ""))
        value *= THOUSANDS.get(match["thousands"] or "", 1.0)
        value *= BYTES.get(match["bytes"] or "", 1.0)
        around = text[: match.start()] + HOLE + text[match.end() :]
        found.append(Quantity(value, match[0].strip(), bool(match["bytes"]), around))
    return found
