from __future__ import annotations

import json
from pathlib import Path

from report_page.amounts import TIMES_SIGN as X

import readme_peers


def write(folder: Path, name: str, *rows: dict[str, object], plan: str = "full") -> None:
    machine = {"date": "2026-01-02T03:04:05Z", "processor": "a processor", "cores": 2, "plan": plan}
    objects = [{"machine": machine}, *rows]
    (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(one) for one in objects))


def row(
    subject: str, operation: str, median: float | None, workload: str = "node, small value"
) -> dict[str, object]:
    return {
        "workload": workload,
        "subject": subject,
        "operation": operation,
        "unit": "ns per operation",
        "median": median,
        "low": median,
        "high": median,
        "rounds": 10,
        "notes": "" if median else "not measured: not built yet",
    }


def lines(folder: Path) -> list[str]:
    return [line for line in readme_peers.block(folder).splitlines() if line.startswith("| ")][1:]


def test_a_benchmark_has_a_line_with_the_best_peer_and_what_is_lost_most(tmp_path: Path) -> None:
    write(
        tmp_path,
        "memory",
        row("polycache", "SET", 100),
        row("polycache", "GET", 100),
        row("lru-cache", "SET", 300),
        row("lru-cache", "GET", 20),
        row("node-cache", "GET", 50),
        row("ts-cache", "GET", 105),
        row("map", "GET", 5),
    )
    assert lines(tmp_path) == [
        "| One process' memory | 1 | 2 | 1 | 0 | GET, node, small value | lru-cache 20.0 ns "
        f"| 100 ns: 0.20{X} **lost** | 0.20{X}: lru-cache, GET, node, small value |"
    ]


def test_rows_of_ours_that_stand_empty_are_counted(tmp_path: Path) -> None:
    write(
        tmp_path,
        "redis",
        row("polycache-redis", "-", None),
        row("ioredis", "GET", 20_000),
        row("node-redis", "GET", 22_000),
        plan="quick",
    )
    assert lines(tmp_path) == [
        "| Redis clients (a quick run) | 0 | 0 | 0 | 3 | GET, node, small value | ioredis 20.0 µs "
        "| empty |  |"
    ]


def test_without_results_it_says_so(tmp_path: Path) -> None:
    assert readme_peers.block(tmp_path) == readme_peers.NONE
