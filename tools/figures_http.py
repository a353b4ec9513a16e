"""docs/benchmarks.md: our HTTP servers beside the same framework that sends the same bytes from
memory, from bench/results/http.jsonl."""

from __future__ import annotations

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "report")]

from harness.row import OF_THE_LIMIT, TIMES_THE_LIMIT  # noqa: E402
from report_page.figures import Results  # noqa: E402

NONE = "No figures are published yet; `make bench-http` measures on your machine.\n"
# The subjects begin so; an answer is the value alone, or has fields around it.
PAGE, VALUE = "polycache-http-", "polycache-http-value-"
REQUESTS = f"requests, {OF_THE_LIMIT}"
SLOWEST = f"latency 99%, {TIMES_THE_LIMIT}"
STILL, CHANGING = "sustained", "sustained, 10 writes a second"
COLUMNS = (
    ("the value alone", VALUE, STILL, REQUESTS),
    ("p99", VALUE, STILL, SLOWEST),
    ("p99, changes", VALUE, CHANGING, SLOWEST),
    ("fields around it", PAGE, STILL, REQUESTS),
    ("p99", PAGE, STILL, SLOWEST),
    ("p99, changes", PAGE, CHANGING, SLOWEST),
)
CLIENTS = {
    "bunredis": "Bun's client",
    "ioredis": "ioredis",
    "redis": "node-redis",
    "redispy": "redis-py",
    "redisrb": "redis-rb",
    "redisrs": "redis-rs",
}
SERVERS = {
    "axum": "axum",
    "bun": "Bun.serve",
    "bun-elysia": "Elysia on Bun",
    "bun-hono": "Hono on Bun",
    "fastapi": "FastAPI on Uvicorn",
    "next-route": "Next, a route",
    "node-fastify": "Fastify on Node",
    "rack": "Rack on Puma",
}


def block(results: Results) -> str:
    found = {
        (one.workload, one.operation, one.subject): f"{one.value:.2f}"
        for one in results.figures
        if one.measured and one.operation in (REQUESTS, SLOWEST)
    }
    if not found:
        return NONE
    ends = sorted({subject.removeprefix(VALUE).removeprefix(PAGE) for *_, subject in found})
    lines = [
        f"| {_name(end)} | "
        + " | ".join(found.get((load, asked, kind + end), "") for _, kind, load, asked in COLUMNS)
        + " |"
        for end in sorted(ends, key=lambda end: _name(end).lower())
    ]
    head = f"| | {' | '.join(name for name, *_ in COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n"
    machine = results.machine
    measured = f"\nMeasured {str(machine['date'])[:10]} on {machine['processor']}.\n"
    return head + "\n".join(lines) + "\n" + measured


def _name(end: str) -> str:
    """`Bun.serve, ioredis` for `ioredis-bun`."""
    if end == "serve":
        return "`polycache serve`"
    client, _, server = end.partition("-")
    return f"{SERVERS.get(server, server)}, {CLIENTS.get(client, client)}"
