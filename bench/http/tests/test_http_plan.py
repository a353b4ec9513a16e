"""The rows that a run has."""

import importlib.util
from pathlib import Path

import pytest

# The servers of the published table.
PAGE = {
    "redis-node-fastify",
    "redis-bun-stric",
    "redis-bun",
    "redis-bun-hono",
    "redis-bun-elysia",
    "ioredis-bun-elysia",
    "ioredis-next-page-dynamic",
    "redis-next-route-dynamic",
    "ioredis-next-route-dynamic",
    "ioredis-next-page-static",
    "redis-next-route-static",
    "ioredis-next-route-static",
}
OURS = {"polycache-host-node-fastify", "polycache-host-bun-elysia"} | {
    f"polycache-http-{client}-{server}"
    for client in ("ioredis", "redis")
    for server in ("node-fastify", "bun", "bun-hono", "bun-elysia")
}


@pytest.fixture(scope="module")
def run():
    # Every benchmark has a run.py: this one by its place.
    file = Path(__file__).resolve().parent.parent / "run.py"
    spec = importlib.util.spec_from_file_location("run_http", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names(group):
    return {subject.name for subject in group.subjects}


def test_the_pages_load_is_put_on_its_twelve_servers_and_ours(run):
    page, _ = run.groups(False)
    assert page.workload == "200 requests"
    assert names(page) == PAGE | OURS


def test_every_server_is_under_sustained_load(run):
    page, sustained = run.groups(False)
    assert names(sustained) > names(page)
    assert sustained.pace.rounds * sustained.pace.seconds >= 10


def test_a_quick_run_has_the_baseline_and_ours(run):
    for group in run.groups(True):
        assert {run.BENCH.baseline, "polycache-http-ioredis-node-fastify"} <= names(group)


def test_servers_run_on_what_their_names_say(run):
    for subject in run.subjects():
        if subject.command:
            runtime = Path(subject.command[0]).name
            assert runtime == ("bun" if "-bun" in subject.name else "node")
