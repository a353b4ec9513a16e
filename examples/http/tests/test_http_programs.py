"""Each program, on its real runtime, answers as the plain handler does, and as HTTP asks."""

import gzip
import itertools
import json
import time

import pytest

from serving import change, stream
from serving.client import Client
from serving.program import RUNTIMES, Kind, Program

NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def plain(redis):
    with start("plain", redis) as program, Client(program.url) as client:
        yield client


@pytest.fixture(scope="module", params=[name for name in RUNTIMES if name != "plain"])
def client(request, redis):
    """Of a server whose responses no longer come from Redis."""
    with start(request.param, redis) as program, Client(program.url) as client:
        wait_until_kept(client, redis)
        yield client


def start(name, redis):
    kind = Kind(name)
    if kind.missing():
        pytest.skip(kind.missing())
    return Program(kind, redis.url)


def wait_until_kept(client, redis):
    deadline = time.monotonic() + change.PATIENCE
    while time.monotonic() < deadline:
        before = stream.reads(redis)
        client.ask()
        client.ask()
        if stream.reads(redis) == before:
            return
    pytest.fail("each response still reads Redis")


def add(redis):
    """A change by a client that knows nothing of caches: the entry's id, and when it was there."""
    identifier = f"1900000000000-{next(NUMBERS)}"
    assert redis.command("XADD", stream.KEY, identifier, "color", "teal") == f"${len(identifier)}"
    return identifier, time.monotonic()


def test_the_body_is_that_of_the_plain_handler(client, plain, redis):
    ours, theirs = client.ask(), plain.ask()
    assert ours.status == theirs.status == 200
    assert ours.without_times == theirs.without_times
    assert ours.fields["content-type"] == theirs.fields["content-type"] == "application/json"
    document = json.loads(ours.body)
    assert list(document) == ["value", "start", "end", "endDate"]
    assert document["value"][: len(stream.entries())] == stream.entries()
    assert document["start"] <= document["end"]


def test_no_request_reads_redis_while_nothing_changes(client, redis):
    wait_until_kept(client, redis)
    before = stream.reads(redis)
    for _ in range(5):
        client.ask()
    assert stream.reads(redis) == before


def test_a_client_that_has_the_value_gets_304(client):
    etag = client.ask().fields["etag"]
    again = client.ask(if_none_match=etag)
    assert (again.status, again.body, again.fields["etag"]) == (304, b"", etag)
    assert client.ask(if_none_match='W/"another"').status == 200


def test_a_change_by_a_plain_client_is_in_the_next_response_within_the_bound(client, redis):
    etag = client.ask().fields["etag"]
    identifier, changed = add(redis)
    seen = change.wait_for(client, identifier, changed)
    assert seen.good, seen
    after = client.ask(if_none_match=etag)
    assert after.status == 200
    assert after.fields["etag"] != etag


def test_head_is_get_without_the_body(client):
    get, head = client.ask(), client.ask(method="HEAD")
    assert (head.status, head.body) == (200, b"")
    for name in ("etag", "content-type", "content-length", "cache-control"):
        assert head.fields.get(name) == get.fields[name], name


def test_gzip_for_those_who_accept_it(client):
    packed = client.ask(accept_encoding="gzip")
    assert packed.fields["content-encoding"] == "gzip"
    assert "accept-encoding" in packed.fields["vary"].lower()
    whole = client.ask()
    assert len(packed.body) < len(whole.body) / 2
    assert json.loads(gzip.decompress(packed.body))["value"] == json.loads(whole.body)["value"]
    assert "content-encoding" not in whole.fields


def test_a_range_of_ids(client):
    (first, _), (second, _) = stream.entries()[1:3]
    found = json.loads(client.ask(f"/?start={first}&end=%2B&count=2").body)["value"]
    assert [identifier for identifier, _ in found] == [first, second]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [("start=yesterday", "start"), ("end=1-2-3", "end"), ("count=-1", "count")],
)
def test_a_bad_id_or_count_is_a_problem_document(client, query, parameter):
    wrong = client.ask(f"/?{query}")
    assert wrong.status == 400
    assert wrong.fields["content-type"].startswith("application/problem+json")
    document = json.loads(wrong.body)
    assert (document["status"], document["parameter"]) == (400, parameter)
