"""The lines of bench/results/<name>.jsonl: the machine once, then one object a row.

A row has exactly the keys bench, workload, subject, operation, unit, median, low, high, rounds,
notes. `low` and `high` are the quartiles. Where nothing was measured the figures are null and
`notes` says why.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .row import Row

FOLDER = Path(__file__).resolve().parent.parent / "results"
NOT_MEASURED = "not measured: "


def path(bench: str) -> Path:
    return FOLDER / f"{bench}.jsonl"


def json_lines(bench: str, rows: Iterable[Row], machine: dict[str, Any]) -> str:
    objects = [{"bench": bench, "machine": machine}, *(as_json(bench, row) for row in rows)]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in objects)


def as_json(bench: str, row: Row) -> dict[str, Any]:
    spread = row.spread if row.measured else None
    return {
        "bench": bench,
        "workload": row.workload,
        "subject": row.subject,
        "operation": row.operation,
        "unit": row.unit,
        "median": figure(spread.median) if spread else None,
        "low": figure(spread.low) if spread else None,
        "high": figure(spread.high) if spread else None,
        "rounds": spread.rounds if spread else 0,
        "notes": "; ".join(row.notes) if spread else f"{NOT_MEASURED}{row.failure}",
    }


def figure(value: float) -> float:
    """Four digits: more would claim what was not measured. Whole numbers stay whole."""
    if value == int(value) and abs(value) < 1e15:
        return int(value)
    return float(f"{value:.4g}")
