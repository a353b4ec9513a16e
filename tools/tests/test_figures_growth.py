from __future__ import annotations

import json
from pathlib import Path

import pytest

import figures_growth

MINUS = figures_growth.MINUS
MACHINE = {
    "date": "2026-01-02T03:04:05Z",
    "processor": "a processor",
    "cores": 2,
    "file_system": "ext4",
}
MICROSECONDS = "µs per operation"


def row(
    entries: int, subject: str, operation: str, median: float | None, **other: object
) -> dict[str, object]:
    size = other.get("size", 100)
    return {
        "workload": f"{entries} entries, {size} bytes each",
        "subject": subject,
        "operation": operation,
        "unit": other.get("unit", MICROSECONDS),
        "median": median,
        "low": median,
        "high": median,
        "rounds": 3,
        "notes": "",
    }


@pytest.fixture
def table(tmp_path: Path):  # type: ignore[no-untyped-def]
    def table(*rows: dict[str, object]) -> list[str]:
        path = tmp_path / "disk-growth.jsonl"
        lines = [{"bench": "disk-growth", "machine": MACHINE}, *rows]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        block = figures_growth.block(figures_growth.load(path))
        return [line for line in block.splitlines() if line.startswith("| ")]

    return table


def test_a_subject_has_a_line_for_each_operation_with_its_growth(table) -> None:  # type: ignore[no-untyped-def]
    assert table(
        row(10_000, "polycache", "SET", 0.5),
        row(10_000, "lmdb", "SET", 5),
        row(10_000, "polycache", "reopen", 4, unit="ms"),
        row(10_000_000, "polycache", "SET", 0.75),
        row(10_000_000, "lmdb", "SET", 50),
        row(10_000_000, "polycache", "reopen", 1, unit="ms"),
    ) == [
        f"| values of 100 B | | 10k | 10M | last : first | last {MINUS} first |",
        "| SET | **Polycache** | 500 ns | 750 ns | 1.5 | +250 ns |",
        "|  | LMDB, a transaction an operation | 5.00 µs | 50.0 µs | 10 | +45.0 µs |",
        f"| reopen | **Polycache** | 4.00 ms | 1.00 ms | 0.25 | {MINUS}3.00 ms |",
    ]


def test_each_size_of_values_has_a_table(table) -> None:  # type: ignore[no-untyped-def]
    found = table(row(10_000, "lmdb", "SET", 5), row(10_000, "lmdb", "SET", 9, size=10_000))
    assert [line for line in found if line.startswith("| values")] == [
        f"| values of 100 B | | 10k | last : first | last {MINUS} first |",
        f"| values of 10,000 B | | 10k | last : first | last {MINUS} first |",
    ]


def test_what_was_not_measured_or_is_nothing_has_no_growth(table) -> None:  # type: ignore[no-untyped-def]
    found = table(
        row(10_000, "polycache", "evicted", 0, unit="%"),
        row(100_000, "polycache", "evicted", 0, unit="%"),
        row(10_000, "lmdb", "SET", 5),
        row(100_000, "lmdb", "SET", None),
    )
    assert found[1:] == [
        "| evicted | **Polycache** | 0 % | 0 % |  |  |",
        "| SET | LMDB, a transaction an operation | 5.00 µs |  |  |  |",
    ]


def test_without_results_it_says_so(tmp_path: Path) -> None:
    absent = figures_growth.load(tmp_path / "disk-growth.jsonl")
    assert figures_growth.block(absent) == figures_growth.NONE
