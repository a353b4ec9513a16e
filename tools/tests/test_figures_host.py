from __future__ import annotations

import json

import figures_host

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
    block = figures_host.block(json.dumps(one) for one in (MACHINE, *rows))
    return [line for line in block.splitlines() if line.startswith("| ") and ":" in line]


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
    assert figures_host.block([]) == figures_host.NONE


def test_the_sentence_names_each_language_and_the_quickest_peer_there() -> None:
    rows = [
        row("rust", "polycache", "get", 166),
        row("rust", "polycache-store", "get", 98),
        row("rust", "lmdb", "get", 335),
        row("rust", "redis", "get", 21_280),
        row("ruby", "polycache", "get", 480),
        row("ruby", "redis", "get", 31_480),
        row("node", "polycache", "put", 10),
    ]
    said = figures_host.sentence(json.dumps(one) for one in (MACHINE, *rows))
    assert said == (
        "A get of 100 B takes 166 ns in Rust (LMDB: 335), 480 ns in Ruby (Redis: 31,480)."
    )
    assert figures_host.sentence([]) == ""
