from __future__ import annotations

import json

import readme_figures

MACHINE = {
    "bench": "host",
    "machine": {
        "date": "2026-01-02T03:04:05Z",
        "processor": "a processor",
        "cores": 2,
        "file_system": "ext4",
    },
}


def row(language: str, subject: str, operation: str, median: float | None, **other: str) -> object:
    unit = other.get("unit", "ns per operation")
    workload = f"{language}, {other.get('size', '100 B')}, 10k keys"
    return {
        "workload": workload,
        "subject": subject,
        "operation": operation,
        "unit": unit,
        "median": median,
    }


def rows_of(*rows: object) -> list[str]:
    block = readme_figures.block(json.dumps(one) for one in (MACHINE, *rows))
    return [line for line in block.splitlines() if line.startswith("| ") and ":" in line]


def test_the_readme_shows_the_figures_of_the_results_file() -> None:
    shown = readme_figures.MARKED.findall(readme_figures.README.read_text())
    assert shown == [readme_figures.current()], "run tools/readme_figures.py"


def test_the_readme_shows_the_peers_of_all_results_files() -> None:
    shown = readme_figures.MARKED_PEERS.findall(readme_figures.README.read_text())
    assert shown == [readme_figures.current_peers()], "run tools/readme_figures.py"


def test_a_store_has_a_line_with_its_best_in_brackets() -> None:
    assert rows_of(
        row("rust", "polycache", "get", 120.4),
        row("rust", "polycache", "put", 1300),
        row("rust", "lmdb", "put, batches of 100", 400),
        row("rust", "lmdb", "put", 5700),
        row("rust", "lmdb", "put, one transaction", 360),
        row("rust", "lmdb", "get", 290),
    ) == ["| Rust: **Polycache** | 120 | 1,300 |", "| Rust: LMDB | 290 | 5,700 (360) |"]


def test_other_units_sizes_and_what_was_not_measured_are_left_out() -> None:
    assert rows_of(
        row("rust", "lmdb", "put", 5700, unit="operations per second"),
        row("rust", "lmdb", "put", 5700, size="10 KB"),
        row("ruby", "redis", "get", None),
        row("rust", "copy", "put", 20),
        row("node", "lmdb", "get", 640),
    ) == ["| Node: LMDB | 640 |  |"]


def test_without_results_it_says_so() -> None:
    assert readme_figures.block([]) == readme_figures.NONE
