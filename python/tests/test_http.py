"""`spec/http/representation.json`: what bytes in memory answer; and what is Python's own."""

import gzip
import json
import os
import re
import signal
import threading
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from polycache import InvalidArgument
from polycache.http import (
    CODINGS,
    Answer,
    HttpProblem,
    Policy,
    Representation,
    StreamRange,
    compressed_types,
    problem_of,
    representation,
    stream_range,
)
from polycache.http.codings import compress

NOW = 1_767_225_600.0
SPEC = Path(__file__).parents[2] / "spec" / "http" / "representation.json"
CASES = json.loads(SPEC.read_text())["cases"]


def decoded(answer: Answer) -> bytes:
    match dict(answer.headers).get("content-encoding"):
        case "gzip":
            return gzip.decompress(answer.body)
        case "br":
            return bytes(import_module("brotli").decompress(answer.body))
        case "zstd":
            library = import_module("zstandard")
            return bytes(library.ZstdDecompressor().decompressobj().decompress(answer.body))
    return answer.body


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case: dict[str, Any]) -> None:
    given = case.get("value", {})
    content = given.get("text") or json.dumps("x" * given.get("repeat", 2000))
    ago = given.get("stored_seconds_ago")
    representation = Representation(
        content.encode(),
        given.get("content_type", "application/json"),
        stored_at=None if ago is None else NOW - ago,
        clock=lambda: NOW,
    )
    names = {
        "etag": representation.etag,
        "bare": representation.etag[1:-1],
        "gzip": Representation(representation.encoded("gzip")).etag,
    }

    def fill(text: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda name: names[name[1]], text)

    request, expected = case["request"], case["expect"]
    headers = {name: fill(value) for name, value in request.get("headers", {}).items()}
    wanted = expected.get("headers", {})
    if wanted.get("content-encoding") not in (None, *CODINGS):
        pytest.skip(f"no {wanted['content-encoding']} here")
    policy = Policy(**case.get("options") or {})
    answer = representation.respond(request.get("method", "GET"), headers, policy)
    assert answer.status == expected["status"]
    fields = dict(answer.headers)
    for name, value in wanted.items():
        if isinstance(value, dict):
            assert fields.get(name) != fill(value["not"]), name
        else:
            assert fields.get(name) == (None if value is None else fill(value)), name
    if expected["body"] == "empty":
        assert answer.body == b""
    elif expected["body"] == "problem":
        assert fields["content-type"] == "application/problem+json"
        assert json.loads(answer.body)["status"] == expected["status"]
    else:
        assert decoded(answer) == content.encode()


def test_compressed_types_are_those_of_the_specification() -> None:
    spec = json.loads((SPEC.parent / "compressed-types.json").read_text())
    assert sorted(compressed_types.TYPES) == spec["types"]
    assert sorted(compressed_types.FAMILIES) == spec["families"]
    for media in (*spec["types"], *(f"{family}/x-any" for family in spec["families"])):
        assert compressed_types.is_compressed(media), media
    for media in spec["others"]:
        assert not compressed_types.is_compressed(media), media


def test_fields_around_a_value() -> None:
    page = Representation(json.dumps(["x" * 3000]).encode())
    for fields in ({"start": 1, "end": "ü"}, {}, {"long": "y" * 200_000}):
        document = page.within("value", fields)
        whole = {"value": ["x" * 3000]} | fields
        plain = document.respond("GET", {})
        assert json.loads(plain.body) == whole
        assert "etag" not in dict(plain.headers)
        packed = document.respond("GET", {"Accept-Encoding": "gzip, br"})
        assert dict(packed.headers)["content-encoding"] == "gzip"
        assert json.loads(gzip.decompress(packed.body)) == whole
    document = page.within("value", {"at": 1}, incidental=True)
    assert document.etag == f"W/{page.etag}"
    assert document.respond("GET", {"if-none-match": page.etag}).status == 304
    with pytest.raises(InvalidArgument, match="name of the value"):
        page.within("value", {"value": 1})
    with pytest.raises(InvalidArgument, match="only JSON"):
        Representation(b"x", "text/plain").within("value")


def test_a_variant_is_made_once() -> None:
    page = Representation(b"x" * 100_000)
    made: list[bytes] = []
    threads = [threading.Thread(target=lambda: made.append(page.encoded("gzip"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(one) for one in made}) == 1


def test_a_document_that_the_client_has_is_not_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Representation(json.dumps("x" * 3000).encode())
    document = page.within("value", {"at": 1}, incidental=True)
    compress = Mock(wraps=zlib.compressobj)
    monkeypatch.setattr(zlib, "compressobj", compress)
    accepts = {"accept-encoding": "gzip"}
    assert document.respond("GET", {**accepts, "if-none-match": page.etag}).status == 304
    assert document.respond("GET", {**accepts, "if-match": '"another"'}).status == 412
    compress.assert_not_called()
    assert decoded(document.respond("GET", accepts)) == document.bytes
    compress.assert_called_once()


def test_bad_input() -> None:
    with pytest.raises(InvalidArgument):
        Representation("text")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        Representation(b"", "text/plain\r\nx: y")
    with pytest.raises(InvalidArgument):
        Representation(b"", etag="bare")
    with pytest.raises(InvalidArgument):
        Policy(headers={"etag": "x"})
    with pytest.raises(InvalidArgument):
        Policy(cache_control={"no_store": True, "max_age": "1s"})


def test_ranges_of_ids() -> None:
    assert stream_range("") == StreamRange("-", "+", 10_000)
    assert stream_range("start=(5-1&end=+&count=7&other=x") == StreamRange("(5-1", "+", 7)
    for query in (
        *("start=x", "start=1&start=2", "count=0", "count=10001", "count=1e3", "start="),
        *(f"start=({2**64 - 1}", "end=(0-0", f"end={2**64}"),
    ):
        with pytest.raises(HttpProblem) as raised:
            stream_range(query)
        answer = problem_of(raised.value, "GET")
        assert answer.status == 400
        assert json.loads(answer.body)["parameter"] == query.split("=")[0]
    hidden = problem_of(RuntimeError("secret"), "GET")
    assert (hidden.status, b"secret" in hidden.body) == (500, False)


def test_a_child_compresses_what_a_thread_of_its_parent_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = Representation(b"x" * 3000)
    begun, goes_on = threading.Event(), threading.Event()

    def compressing(content: bytes, coding: str) -> bytes:
        begun.set()
        goes_on.wait()
        return compress(content, coding)

    monkeypatch.setattr(representation, "compress", compressing)
    thread = threading.Thread(target=page.encoded, args=("gzip",))
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        # Or it would wait for a thread that is not here.
        signal.alarm(20)
        status = 1
        try:
            monkeypatch.setattr(representation, "compress", compress)
            status = int(gzip.decompress(page.encoded("gzip")) != page.bytes)
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    goes_on.set()
    thread.join()
    assert status == 0
