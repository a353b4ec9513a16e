from __future__ import annotations

import json
from pathlib import Path

from report_page.amounts import TIMES_SIGN as X

import figures_peers


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
    return [line for line in figures_peers.block(folder).splitlines() if line.startswith("| ")][1:]


def test_a_benchmark_has_a_line_with_the_typical_the_best_and_the_worst_row(tmp_path: Path) -> None:
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
        f"| One process' memory | **1 of 2** | 0 | 1 | level: ts-cache 105 ns, GET, "
        f"node, small value | 3.00{X} faster: lru-cache 300 ns, SET, node, small value "
        f"| 5.00{X} slower: lru-cache 20.0 ns, GET, node, small value |"
    ]
    assert figures_peers.limits(tmp_path) == "- One process' memory: map\n"


def test_where_ours_is_empty_it_says_so(tmp_path: Path) -> None:
    write(
        tmp_path,
        "redis",
        row("polycache-redis", "-", None),
        row("ioredis", "GET", 20_000),
        row("node-redis", "GET", 22_000),
        plan="quick",
    )
    assert lines(tmp_path) == ["| Redis clients (a quick run) | ours is empty | 0 | 0 |  |  |  |"]


def test_the_readme_says_it_in_three_sentences(tmp_path: Path) -> None:
    write(
        tmp_path,
        "host",
        row("polycache", "get", 100),
        row("lmdb", "get", 300),
        row("polycache", "put", 100),
        row("lmdb", "put", 20),
    )
    assert figures_peers.sentences(tmp_path, "First.") == (
        "First.\nIt is fastest of all in 1 of 2 operations beside stores that processes share, and "
        "in 1 of 2 over all 1 benchmarks, level in 0, and a peer is faster in 1.\n"
        "[Every benchmark](docs/benchmarks.md), with the rows that we lose.\n"
    )


def test_without_results_it_says_so(tmp_path: Path) -> None:
    assert figures_peers.block(tmp_path) == figures_peers.NONE
