"""What is said of ours beside the same bytes from memory."""

from __future__ import annotations

import pytest

from harness.row import MILLISECONDS, OF_THE_LIMIT, REQUESTS_PER_SECOND, TIMES_THE_LIMIT, Row
from serving.limits import beside_limits, family, limit_of

SUBJECTS = (
    "polycache-http-value-serve",
    "constant-axum",
    "constant-bun",
    "constant-bun-hono",
    "constant-next-route",
    "constant-node-fastify",
)


def requests(subject, *samples, operation="requests", unit=REQUESTS_PER_SECOND, failure=""):
    return Row("sustained", subject, operation, unit, samples=list(samples), failure=failure)


@pytest.mark.parametrize(
    ("subject", "limit"),
    [
        ("polycache-http-ioredis-bun", "constant-bun"),
        ("polycache-http-value-redis-bun-hono", "constant-bun-hono"),
        ("polycache-http-ioredis-next-route", "constant-next-route"),
        ("redis-node-fastify", "constant-node-fastify"),
        ("polycache-http-value-serve", "constant-axum"),
        ("constant-bun", "constant-bun"),
        ("redis-bun-elysia", None),
    ],
)
def test_a_limit_is_the_constant_of_the_same_framework(subject, limit):
    assert limit_of(subject, SUBJECTS) == limit
    assert family(subject, SUBJECTS) == (limit or subject)


def test_every_server_of_ours_has_a_limit_that_is_measured_beside_it(run):
    for group in (run.groups(False)[1], run.groups(False)[3]):
        names = [one.name for one in group.subjects]
        ours = [name for name in names if name.startswith("polycache-http-")]
        assert len(ours) > 10
        assert all(limit_of(name, names) for name in ours)
        assert {group.family(name) for name in ours} == {limit_of(name, names) for name in ours}


def test_a_quick_run_has_a_limit_too(run):
    for group in (run.groups(True)[1], run.groups(True)[3]):
        names = [one.name for one in group.subjects]
        assert limit_of("polycache-http-ioredis-bun", names) == "constant-bun"


def test_shares_are_of_the_same_round():
    fast = "polycache-http-ioredis-bun"
    rows = [requests(fast, 80, 10), requests("constant-bun", 100, 20), requests("redis-bun", 1, 1)]
    (found,) = beside_limits(rows)
    assert (found.subject, found.operation, found.unit) == (
        fast,
        "requests, of the limit",
        OF_THE_LIMIT,
    )
    assert found.samples == [0.8, 0.5]
    assert found.workload == "sustained"
    assert found.notes == ["the limit is constant-bun"]


def test_latencies_are_so_many_times_the_limits():
    said = {"operation": "latency 99%", "unit": MILLISECONDS}
    rows = [
        requests("polycache-http-ioredis-bun", 3.0, **said),
        requests("constant-bun", 2.0, **said),
        requests("polycache-http-ioredis-bun", 9.0, operation="latency 50%", unit=MILLISECONDS),
        requests("constant-bun", 9.0, operation="latency 50%", unit=MILLISECONDS),
    ]
    (found,) = beside_limits(rows)
    assert (found.operation, found.unit) == ("latency 99%, times the limit", TIMES_THE_LIMIT)
    assert found.samples == [1.5]


@pytest.mark.parametrize(
    "limit",
    [
        requests("constant-bun"),
        requests("constant-bun", 100, failure="it went away"),
        requests("constant-bun-hono", 100, 100),
    ],
)
def test_without_its_limit_a_row_stands_alone(limit):
    assert list(beside_limits([requests("polycache-http-ioredis-bun", 80, 80), limit])) == []


def test_a_row_that_failed_is_beside_nothing():
    rows = [
        requests("polycache-http-ioredis-bun", 80, failure="it went away"),
        requests("constant-bun", 100),
    ]
    assert list(beside_limits(rows)) == []
