"""Results that were not measured: small files in the shape that the benchmarks write, with what a
page has to cope with. Figures are chosen so that each verdict is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HOSTILE = "<script>alert('x')</script>"

MACHINE = {
    "date": "2026-01-02T03:04:05Z",
    "processor": "a made-up processor",
    "cores": 2,
    "memory_gib": 23.5,
    "kernel": "6.1",
    "file_system": "ext4",
    "commit": "abc1234",
    "versions": {"node": "v24.0.0", "lru-cache": "11.2.2"},
    "plan": "full",
    "seconds": 60,
    "load_before": "0.1, 0.1, 0.1",
    "load_after": "1.9, 1.2, 0.6",
}
PERCENTS = (10, 25, 50, 75, 90, 95, 99)
NANOSECONDS = "ns per operation"


def row(
    workload: str,
    subject: str,
    operation: str,
    unit: str,
    median: float | None,
    notes: str = "",
    spread: float = 0.1,
) -> dict[str, Any]:
    if median is None:
        figures: dict[str, Any] = {"median": None, "low": None, "high": None, "rounds": 0}
        notes = f"not measured: {notes}"
    else:
        low, high = median * (1 - spread), median * (1 + spread)
        figures = {"median": median, "low": low, "high": high, "rounds": 10}
    names = {"workload": workload, "subject": subject, "operation": operation, "unit": unit}
    return names | figures | {"notes": notes}


def memory() -> list[dict[str, Any]]:
    """lru-cache: won by it. node-cache: won by us. ts-cache: too close. keyv: cannot be had."""
    rows = []
    for workload, factor in (
        ("node, small value", 1),
        ("node, batch of 100", 100),
        ("bun, small value", 1),
        ("node, Zipf over 10k keys", 2),
        ("node, Zipf over 1M keys", 5),
    ):
        absent = "not built yet: the memory tier in TypeScript"
        rows.append(row(workload, "polycache-memory", "-", "", None, absent))
        for subject, times, notes in (
            ("polycache-host", 1.0, "isolation: clone; TTL"),
            ("polycache-host-shared", 1.0, "isolation: none; TTL"),
            ("lru-cache", 0.1, "isolation: none; TTL"),
            ("node-cache", 3.0, "isolation: clone; TTL"),
            ("ts-cache-sync", 1.04, "isolation: clone; TTL"),
            ("map", 0.05, "isolation: none; no TTL; unbounded"),
        ):
            for operation, ns in (("SET", 400), ("GET", 200)):
                rows.append(
                    row(workload, subject, operation, NANOSECONDS, ns * factor * times, notes)
                )
        failed = f"it read 1 instead of 2 {HOSTILE}"
        rows.append(row(workload, "keyv", "-", "", None, failed))
        rows.append(row(workload, "quick-lru", "SET", NANOSECONDS, 500, "isolation: none"))
        rows.append(row(workload, "quick-lru", "GET", NANOSECONDS, None, "it has no GET"))
    return rows


def redis() -> list[dict[str, Any]]:
    """Ours is empty throughout."""
    workload = "node, small value"
    rows = [row(workload, "polycache-redis", "-", "", None, "not built yet: the remote tier")]
    for subject, times in (("ioredis", 1.0), ("node-redis", 1.3)):
        for operation in ("SET", "GET", "EXISTS", "DELETE", "SET with TTL", "TTL"):
            rows.append(row(workload, subject, operation, NANOSECONDS, 20_000 * times))
    return rows


def namespace() -> list[dict[str, Any]]:
    """No row of ours at all; more is better."""
    rows = []
    operations = ("SET", "GET", "MGET (10 keys)", "LPUSH", "LRANGE", "HSET", "HGETALL", "SADD",
                  "SMEMBERS", "KEYS", "ZRANGE", "MULTI/EXEC")  # fmt: skip
    for subject, times in (("redis-client", 1.0), ("redis-namespace", 0.8), ("redis-rb", 0.9)):
        for number, operation in enumerate(operations):
            rate = (20_000 - 900 * number) * times
            unit = "operations per second"
            rows.append(row("Round trips to a local Redis", subject, operation, unit, rate))
            time = row("The client alone: time", subject, operation, NANOSECONDS, 9e3 / times)
            rows.append(time)
    return rows


def disk() -> list[dict[str, Any]]:
    rows = []
    for keys, size in ((10_000, 1000), (10_000, 10_000), (100_000, 100), (100_000, 1000)):
        workload = f"{keys} entries, {size} bytes each"
        grown = keys / 1e4 * (size / 1000) ** 0.5
        for subject, times, notes in (
            ("polycache", 1.0, "survives kill -9; not compressed"),
            ("lmdb", 2.5, "survives kill -9; not compressed"),
            ("lmdb-one-transaction", 0.7, "none; not compressed"),
            ("gdbm", 1.05, "survives kill -9; not compressed"),
            ("gzip-files", 30.0, "survives kill -9; gzip"),
        ):
            for operation, seconds in (("SET", 0.05), ("GET", 0.03), ("GET, random order", 0.04),
                                       ("DELETE", 0.02)):  # fmt: skip
                median = seconds * grown * times
                rows.append(row(workload, subject, operation, "s", median, notes))
            bytes = 1.2 * keys * size * min(times, 2)
            rows.append(row(workload, subject, "SIZE", "bytes", bytes, notes, spread=0))
        rows.append(row(workload, "blob_cache", "-", "", None, "give a checkout as BLOB_CACHE"))
    return rows


def http() -> list[dict[str, Any]]:
    rows = []
    for workload in ("200 requests", "sustained"):
        rows.append(row(workload, "polycache-http", "-", "", None, "not built yet"))
        for number, subject in enumerate(
            ("polycache-host-bun-elysia", "redis-node-fastify", "ioredis-bun-elysia", "redis-bun",
             "constant-bun-elysia", "ioredis-next-route-dynamic", "ioredis-next-page-static")
        ):  # fmt: skip
            rate = 4000 - 500 * number
            rows.append(row(workload, subject, "requests", "requests per second", rate))
            for percent in PERCENTS:
                latency = 8 + 2 * number + percent**1.5 / 50
                rows.append(row(workload, subject, f"latency {percent}%", "ms", latency))
        rows.append(row(workload, "redis-bun-stric", "-", "", None, "it does not start on Bun 1.4"))
    return rows


def codec() -> list[dict[str, Any]]:
    rows = []
    for subject, times in (("polycache", 1.0), ("skp-cache", 1.6), ("moka", 0.8)):
        for operation, ns in (("set/small_value", 300), ("get/hit", 150), ("get/miss", 40)):
            rows.append(row("throughput", subject, operation, NANOSECONDS, ns * times))
        rows.append(row("serialized size, large", subject, "MsgPack", "bytes", 13_564, spread=0))
    return rows


def hit_ratio() -> list[dict[str, Any]]:
    rows = []
    for trace in ("zipf 0.9", "zipf 0.9 with scans", "loop", "trace OLTP"):
        absent = "not built yet: the memory tier's policy"
        rows.append(row(trace, "polycache", "-", "", None, absent))
        for subject, gain in (("OPT", 1.0), ("LRU", 0.75), ("FIFO", 0.7), ("SIEVE", 0.84),
                              ("S3-FIFO", 0.86), ("W-TinyLFU", 0.87)):  # fmt: skip
            for capacity in (100, 1000, 5000, 10_000, 25_000):
                ratio = gain * min(0.95, 0.12 * capacity**0.2)
                rows.append(
                    row(trace, subject, f"{capacity} entries", "hit ratio", ratio, spread=0.01)
                )
    return rows


BENCHES = {
    "memory": memory,
    "redis": redis,
    "namespace": namespace,
    "disk": disk,
    "http": http,
    "codec": codec,
    "hit-ratio": hit_ratio,
}


def lines(name: str, rows: list[dict[str, Any]], **machine: object) -> list[str]:
    objects = [{"bench": name, "machine": MACHINE | machine}, *({"bench": name} | r for r in rows)]
    return [json.dumps(one) for one in objects]


def write(folder: Path) -> None:
    """All benchmarks but host, memory as a quick run."""
    for name, rows in BENCHES.items():
        machine = {"plan": "quick"} if name == "memory" else {}
        text = "\n".join(lines(name, rows(), **machine)) + "\n"
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
