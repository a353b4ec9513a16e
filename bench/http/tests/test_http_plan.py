"""The rows that a run has."""

import os
from pathlib import Path

import pytest

from harness.worker import Unavailable
from serving.server import Server

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


def names(group):
    return {subject.name for subject in group.subjects}


def test_the_pages_load_is_put_on_its_twelve_servers_and_ours(run):
    page = run.groups(False)[0]
    assert page.workload == "200 requests"
    assert names(page) >= PAGE
    ours = names(page) - PAGE
    assert {"polycache-host-bun-elysia", "polycache-http-redis-node-fastify"} <= ours
    assert all(name.startswith("polycache") and "-value-" not in name for name in ours)
    assert not any(name.endswith(("-fastapi", "-rack")) for name in ours)


def test_every_server_is_under_sustained_load(run):
    page, sustained, *_ = run.groups(False)
    assert names(sustained) == {subject.name for subject in run.subjects()} > names(page)
    assert sustained.pace.rounds * sustained.pace.seconds >= 10


def test_the_same_loads_come_once_more_while_the_stream_changes(run):
    *still, page, sustained = run.groups(False)
    assert [group.workload for group in (page, sustained)] == [
        f"{group.workload}, 10 writes a second" for group in still
    ]
    for group, same in zip((page, sustained), still, strict=True):
        assert group.options == {"writes_a_second": 10}
        assert (group.pace, group.open) == (same.pace, same.open)
        assert names(group) < names(same)
        assert {"polycache-http-redis-bun-hono", "redis-bun-hono"} <= names(group)
    assert {"redispy-fastapi", "polycache-http-redisrb-rack"} <= names(sustained)


def test_a_quick_run_has_every_load_with_ours_and_a_peer(run):
    quick = run.groups(True)
    assert [one.workload for one in quick] == [one.workload for one in run.groups(False)]
    for group in quick:
        assert "polycache-http-ioredis-bun" in names(group)
        assert names(group) & PAGE


@pytest.mark.parametrize(
    ("file", "program"),
    [
        ("a-bun.mjs", "bun"),
        ("b-node.mjs", "node"),
        ("c-fastapi.py", "python"),
        ("d-rack.rb", "ruby"),
        ("polycache-serve.sh", "bash"),
    ],
)
def test_a_file_is_a_row_whatever_it_runs_on(run, monkeypatch, tmp_path, file, program):
    (tmp_path / file).touch()
    monkeypatch.setattr(run, "FOLDER", tmp_path)
    (found,) = run.subjects()
    assert found.name == Path(file).stem
    assert Path(found.command[0]).name.startswith(program)
    sustained = run.groups(False)[1]
    assert names(sustained) == {found.name}


def test_servers_run_on_what_their_names_say(run):
    for subject in run.subjects():
        if subject.command[-1].endswith(".mjs"):
            runtime = Path(subject.command[0]).name
            assert runtime == ("bun" if "-bun" in subject.name else "node")


def test_a_program_that_was_not_compiled_is_named(run, tmp_path):
    compiled = [one for one in run.subjects() if one.name.endswith("-axum")]
    assert len(compiled) == 4
    for subject in compiled:
        with pytest.raises(Unavailable, match=f"{tmp_path}/release/bench-http-axum"):
            Server(subject.command, os.environ | {"CARGO_TARGET_DIR": str(tmp_path)})
