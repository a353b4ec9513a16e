from __future__ import annotations

import json
from pathlib import Path

import pytest

import figures_growth
import figures_stores

MACHINE = {"date": "2026-01-02T03:04:05Z", "processor": "a processor"}


def row(
    keys: int, subject: str, operation: str, median: float | None, unit: str = "s"
) -> dict[str, object]:
    names = {"workload": f"{keys} entries, 100 bytes each", "subject": subject}
    figures = {"median": median, "low": median, "high": median, "rounds": 10, "notes": ""}
    return {**names, "operation": operation, "unit": unit, **figures}


@pytest.fixture
def table(tmp_path: Path):  # type: ignore[no-untyped-def]
    def table(*rows: dict[str, object]) -> list[str]:
        path = tmp_path / "disk.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in ({"machine": MACHINE}, *rows)))
        block = figures_stores.block(figures_growth.load(path))
        return [line for line in block.splitlines() if line.startswith("| `")][1:]

    return table


def test_a_store_has_the_least_and_the_most_of_all_workloads(table) -> None:  # type: ignore[no-untyped-def]
    assert table(
        row(10_000, "polycache-lmdb", "SET", 0.08),
        row(10_000, "lmdb", "SET", 0.05),
        row(100_000, "polycache-lmdb", "SET", 0.4),
        row(100_000, "lmdb", "SET", 0.5),
        row(10_000, "polycache-lmdb", "DELETE", 0.01),
        row(10_000, "lmdb", "DELETE", 0.005),
    ) == ["| `lmdb` | lmdb | \N{MINUS SIGN}1.0 to +3.0 |  |  | +0.5 to +0.5 |"]


def test_what_was_not_measured_has_no_figure(table) -> None:  # type: ignore[no-untyped-def]
    assert table(
        row(10_000, "polycache-files", "SET", 8),
        row(10_000, "files", "SET", None),
        row(10_000, "lmdb", "SET", 1),
        row(10_000, "polycache-files", "GET", 1, unit="ms"),
    ) == ["| `files` | files |  |  |  |  |"]


def test_every_subject_is_one_of_the_benchmark() -> None:
    folder = Path(figures_stores.BENCH) / "disk" / "subjects"
    for pair in figures_stores.PAIRS.values():
        for subject in pair:
            assert (folder / f"{subject}.py").exists()


def test_without_results_it_says_so(tmp_path: Path) -> None:
    absent = figures_growth.load(tmp_path / "disk.jsonl")
    assert figures_stores.block(absent) == figures_stores.NONE
