"""Results as Markdown tables: a row a subject, a column a state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN = "<!-- written by make bench-failures -->"
END = "<!-- to here -->"

# Of these operations, in this order.
SHOWN = ("get", "set", "get or load", "tenth get")
FAR = 1e5


def tables(rows: Iterable[Mapping[str, Any]]) -> str:
    rows = list(rows)
    states = list(dict.fromkeys(row["workload"] for row in rows))
    subjects = list(dict.fromkeys(row["subject"] for row in rows))
    cells = {(row["operation"], row["subject"], row["workload"]): cell(row) for row in rows}
    parts = []
    for operation in SHOWN:
        lines = [[operation, *states]]
        for subject in subjects:
            shown = [cells.get((operation, subject, state), "") for state in states]
            if any(shown):
                lines.append([name(subject), *shown])
        parts.append(table(lines))
    return "\n".join(parts)


def name(subject: str) -> str:
    return f"**{subject}**" if subject.startswith("polycache") else subject


def cell(row: Mapping[str, Any]) -> str:
    """`miss, 0.2 ms`; empty where there is no such operation."""
    if row["median"] is None:
        why = str(row["notes"])
        return "" if "no such operation" in why else "failed to start"
    outcome = str(row["notes"])
    if outcome.startswith("no answer"):
        return f"> {row['median'] / 1000:.0f} s"
    return f"{outcome.partition(':')[0]}, {time_of(row['median'])}"


def time_of(milliseconds: float) -> str:
    if milliseconds < 1:
        return "< 1 ms"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def table(lines: Sequence[Sequence[str]]) -> str:
    head, *rest = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([head, "|" + "---|" * len(lines[0]), *rest]) + "\n"


def write(document: Path, results: Path) -> None:
    """Puts the tables of a results file between the two marks of a document."""
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    text = document.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{document} has no place for the tables: {BEGIN} and {END}")
    measured = tables(row for row in rows if "workload" in row)
    document.write_text(f"{before}{BEGIN}\n\n{measured}\n{END}{after}")
