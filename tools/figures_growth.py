"""docs/benchmarks.md's tables and picture of stores that grow, from
bench/results/disk-growth.jsonl."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "report")]

from report_page.amounts import amount  # noqa: E402
from report_page.figures import Results, read  # noqa: E402
from report_page.growth import Curve, curves  # noqa: E402

NONE = "No figures are published yet; `make bench-disk-growth` measures on your machine.\n"
MINUS = "\N{MINUS SIGN}"
# Beside the page.
PICTURE = "disk-growth.svg"
NAMES = {
    "polycache": "**Polycache**",
    "lmdb": "LMDB, a transaction an operation",
    "lmdb-batches-of-100": "LMDB, batches of 100",
    "rocksdict": "RocksDB",
}


def load(path: Path) -> Results:
    return read(path) if path.exists() else Results(path.stem)


def picture(results: Results) -> str:
    """An SVG, or nothing. Needs what bench/report/setup.sh installs, which the tables do not."""
    from report_page.growth_picture import picture

    return picture(results)


def block(results: Results) -> str:
    found = curves(results)
    if not found:
        return NONE
    parts = [f"![How the time of an operation and the size of an entry grow]({PICTURE})", ""]
    for value_bytes in dict.fromkeys(curve.value_bytes for curve in found):
        parts += _table(value_bytes, [one for one in found if one.value_bytes == value_bytes])
    machine = results.machine
    parts.append(
        f"Measured {str(machine['date'])[:10]} on {machine['processor']}, {machine['cores']} "
        f"cores, {machine['file_system']}."
    )
    return "\n".join(parts) + "\n"


def _table(value_bytes: int, found: Sequence[Curve]) -> list[str]:
    sizes = sorted({entries for curve in found for entries, _ in curve.points})
    names = " | ".join(_compact(size) for size in sizes)
    lines = [
        f"| values of {value_bytes:,} B | | {names} | last : first | last {MINUS} first |",
        "|---|---" + "|---" * len(sizes) + "|---|---|",
    ]
    shown = ""
    for curve in found:
        values = dict(curve.points)
        cells = [amount(values[size], curve.unit) if size in values else "" for size in sizes]
        cells += _growth(curve)
        name = NAMES.get(curve.subject, curve.subject)
        first = "" if curve.operation == shown else curve.operation
        lines.append(f"| {first} | {name} | {' | '.join(cells)} |")
        shown = curve.operation
    return [*lines, ""]


def _growth(curve: Curve) -> list[str]:
    """As a ratio and as a difference: a high fixed cost makes the first look small."""
    if len(curve.points) < 2 or not curve.grew:
        return ["", ""]
    more = curve.points[-1][1] - curve.points[0][1]
    sign = "+" if more >= 0 else MINUS
    ratio = f"{curve.grew:.2g}" if curve.grew < 10 else f"{curve.grew:.0f}"
    return [ratio, sign + amount(abs(more), curve.unit)]


def _compact(value: int) -> str:
    for size, name in ((10**6, "M"), (1000, "k")):
        if value >= size:
            return f"{value / size:g}{name}"
    return str(value)
