"""How a store's times and its space grow with its entries."""

from __future__ import annotations

from collections.abc import Iterable

from .place import Opened
from .row import BYTES_PER_ENTRY, SPACE, Row
from .workload import Workload

GIB = 1 << 30
# No workload fills it: what grows, grows with the entries and not with the limit.
ROOM = 8 * GIB
SUBJECTS = ("polycache-store", "lmdb")
OPERATIONS = ("put", "get", SPACE)
TITLE = """Entries are stored once, in a random order, in a store with room for 8 GiB; then put and
get take turns as everywhere. In brackets: how many times as much as with the fewest entries of that
size. Space is what the directory takes on the disk, keys and values included."""


def workload(size: int, keys: int) -> Workload:
    return Workload(size, keys, ROOM)


def space_row(language: str, load: Workload, opened: Opened) -> Row | None:
    """What the store took once it was filled; none for a store that is not in its directory."""
    if not opened.bytes:
        return None
    share = opened.bytes / load.keys
    row = Row(language, load, opened.subject, SPACE, "-", BYTES_PER_ENTRY, [share])
    row.notes.append("one fill")
    return row


def table(rows: Iterable[Row]) -> list[str]:
    """Markdown: a line for each size and number of keys, with ours and the peer's figures."""
    found = {
        (row.workload, row.subject, row.operation): row.spread.median
        for row in rows
        if row.workload.room and row.measured and row.subject in SUBJECTS
    }
    loads = sorted({key[0] for key in found}, key=lambda load: (load.size, load.keys))
    smallest: dict[int, Workload] = {}
    lines = []
    for load in loads:
        first = smallest.setdefault(load.size, load)
        cells = [
            _cell(found.get((load, subject, operation)), found.get((first, subject, operation)))
            for operation in OPERATIONS
            for subject in SUBJECTS
        ]
        if any(cells):
            lines.append(f"| {load.name} | {' | '.join(cells)} |")
    if not lines:
        return []
    heads = [f"{operation}: {subject}" for operation in OPERATIONS for subject in SUBJECTS]
    head = ["", "## Growth", "", TITLE, "", f"| | {' | '.join(heads)} |"]
    return [*head, "|---|" + "---|" * len(heads), *lines, ""]


def _cell(value: float | None, first: float | None) -> str:
    if value is None or not first:
        return ""
    return f"{value:,.0f} ({value / first:.2f})"
