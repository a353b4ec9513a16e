from __future__ import annotations

import json
from pathlib import Path

import pytest

import figures_growth
import figures_http

MACHINE = {"date": "2026-01-02T03:04:05Z", "processor": "a processor"}
AT_REST, CHANGING = "sustained", "sustained, 10 writes a second"


def row(
    workload: str, subject: str, operation: str, median: float | None, unit: str
) -> dict[str, object]:
    names = {"workload": workload, "subject": subject, "operation": operation, "unit": unit}
    return names | {"median": median, "low": median, "high": median, "rounds": 10, "notes": ""}


def share(workload: str, subject: str, median: float | None) -> dict[str, object]:
    return row(workload, subject, "requests, of the limit", median, "of the limit")


def slowest(workload: str, subject: str, median: float) -> dict[str, object]:
    return row(workload, subject, "latency 99%, times the limit", median, "times the limit")


@pytest.fixture
def table(tmp_path: Path):  # type: ignore[no-untyped-def]
    def table(*rows: dict[str, object]) -> list[str]:
        path = tmp_path / "http.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in ({"machine": MACHINE}, *rows)))
        return figures_http.block(figures_growth.load(path)).splitlines()

    return table


def test_a_server_has_a_row_of_both_answers(table) -> None:  # type: ignore[no-untyped-def]
    lines = table(
        share(AT_REST, "polycache-http-value-ioredis-bun-hono", 0.951),
        slowest(AT_REST, "polycache-http-value-ioredis-bun-hono", 1.1),
        slowest(CHANGING, "polycache-http-value-ioredis-bun-hono", 1.6),
        share(AT_REST, "polycache-http-ioredis-bun-hono", 0.75),
        slowest(CHANGING, "polycache-http-ioredis-bun-hono", 2.2),
        share(CHANGING, "polycache-http-ioredis-bun-hono", 0.1),
        share(AT_REST, "polycache-http-value-serve", 1.02),
    )
    assert lines[2:4] == [
        "| `polycache serve` | 1.02 |  |  |  |  |  |",
        "| Hono on Bun, ioredis | 0.95 | 1.10 | 1.60 | 0.75 |  | 2.20 |",
    ]
    assert lines[-1] == "Measured 2026-01-02 on a processor."


def test_what_was_not_measured_has_no_figure(table) -> None:  # type: ignore[no-untyped-def]
    none = share(AT_REST, "polycache-http-ioredis-bun", None)
    assert table(none) == [figures_http.NONE.strip()]


def test_every_server_and_client_of_the_benchmark_has_a_name() -> None:
    folder = Path(figures_http.BENCH) / "http" / "subjects"
    ours = [one.stem for one in folder.glob("polycache-http-*")]
    assert len(ours) > 10
    for name in ours:
        client, _, server = (
            name.removeprefix("polycache-http-").removeprefix("value-").partition("-")
        )
        assert client == "serve" or (
            client in figures_http.CLIENTS and server in figures_http.SERVERS
        )


def test_without_results_it_says_so(tmp_path: Path) -> None:
    absent = figures_growth.load(tmp_path / "http.jsonl")
    assert figures_http.block(absent) == figures_http.NONE
