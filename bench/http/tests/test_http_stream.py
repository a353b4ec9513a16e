"""The stream that every server reads: made by its generator, as large as the published one."""

import importlib.util
import json
import shutil

import pytest

from harness import redis_server
from serving import stream


@pytest.fixture(scope="module")
def entries():
    return stream.entries()


def compact(value):
    return len(json.dumps(value, separators=(",", ":")))


def test_its_generator_writes_it_byte_for_byte():
    file = stream.FILE.with_name("generate.py")
    spec = importlib.util.spec_from_file_location("generate_stream", file)
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.text() == stream.FILE.read_text()


def test_it_has_339_entries_of_six_fields_in_the_order_of_their_ids(entries):
    assert len(entries) == 339
    names = {tuple(fields[::2]) for _, fields in entries}
    assert names == {("color", "font", "alignment", "position", "height", "width")}
    ids = [tuple(map(int, identifier.split("-"))) for identifier, _ in entries]
    assert ids == sorted(set(ids))


def test_its_json_is_as_long_as_the_published_one(entries):
    objects = [
        {"id": identifier, "message": dict(zip(fields[::2], fields[1::2], strict=True))}
        for identifier, fields in entries
    ]
    assert compact(entries) == 41_714
    assert compact(objects) == 46_799


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server here")
    with redis_server.running(tmp_path_factory.mktemp("http") / "redis") as redis:
        yield redis


def test_it_takes_as_much_memory_in_redis_as_the_published_one(redis):
    stream.fill(redis)
    assert stream.memory_usage(redis) == 20_428


def test_reads_of_it_are_counted(redis):
    before = stream.reads(redis)
    redis.command("XRANGE", stream.KEY, "-", "+")
    redis.command("XLEN", stream.KEY)
    assert stream.reads(redis) - before == 1


def test_it_is_filled_once(redis):
    stream.fill(redis)
    stream.fill(redis)
    assert redis.command("XLEN", stream.KEY) == ":339"
