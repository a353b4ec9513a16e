"""`spec/http/response-cache.json` and `spec/http/stored-answers.json`: what a response cache
stores, under which key, and whom it answers with what."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from response_caches import START, Asked, Origin, client

from polycache import Cache
from polycache.http.response_cache.directives import directives_of, seconds_of

SPEC = Path(__file__).parents[2] / "spec" / "http"
CASES = json.loads((SPEC / "response-cache.json").read_text())["cases"]
STORED = json.loads((SPEC / "stored-answers.json").read_text())["cases"]


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now

    def set(self, seconds: float) -> None:
        self.now = START + int(seconds * 1000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["asgi", "wsgi"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["memory", "directory"])
def cache(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Cache]:
    if request.param == "memory":
        opened = Cache(clock=clock)
    else:
        opened = Cache(tmp_path / "cache", limit="2MiB", clock=clock)
    with opened:
        yield opened


@pytest.mark.parametrize(
    ("field", "name", "seconds"),
    [
        ("max-age=5", "max-age", 5),
        (" Max-Age = 5", "max-age", 0),
        (', ,max-age="7" , x', "max-age", 7),
        ("max-age=1, max-age=9", "max-age", 1),
        ("max-age=", "max-age", 0),
        ("max-age=-1", "max-age", 0),
        ("max-age=٣", "max-age", 0),
        ("max-age=" + "9" * 5000, "max-age", 2**31),
        ('x="a, private"', "private", None),
        ('x="a, private', "private", 0),
        ("x y, PRIVATE", "private", 0),
        ('x="\\"", no-store', "no-store", 0),
        ('private="x-a"', "private", 0),
        ("", "private", None),
    ],
)
def test_what_is_in_doubt_counts(field: str, name: str, seconds: int | None) -> None:
    assert seconds_of(directives_of(field), name) == seconds


def names(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", CASES, ids=names)
async def test_cases(case: dict[str, Any], kind: str, cache: Cache, clock: Clock) -> None:
    origin = Origin()
    options = case.get("options", {})
    ask = client(kind, cache, origin, clock=clock, on_error=lambda _: None, **options)
    for number, step in enumerate(case["steps"]):
        clock.set(step["at"])
        origin.answer, origin.asked = step["origin"], 0
        got = await ask(Asked(**step.get("request", {})))
        expected = step["expect"]
        text = got.body.decode(errors="replace")
        found = (number, got.status, text, origin.asked)
        body = expected.get("body", text)
        assert found == (number, expected["status"], body, expected["asked"])
        for name, value in expected.get("headers", {}).items():
            if isinstance(value, dict):
                assert got.headers.get(name) != value["not"], name
            else:
                assert got.headers.get(name) == value, name


@pytest.mark.parametrize("case", STORED, ids=names)
async def test_stored_answers(case: dict[str, Any], kind: str, clock: Clock) -> None:
    clock.set(case["at"])
    asked, options = Asked(**case["request"]), case.get("options", {})
    origin = Origin()
    origin.answer = case["origin"]
    stored = dict(case["stored"])
    if "body" in stored:
        stored["body"] = stored["body"].encode()

    before = case.get("before", {})

    with Cache(clock=clock) as writing:
        writing.set_many(before)
        await client(kind, writing, origin, clock=clock, **options)(asked)
        assert sorted(writing.keys()) == sorted([*before, case["key"]])
        found = writing.get(case["key"])
        assert found == stored
        # Whole numbers, as in every language: Python has an `==` between kinds.
        assert json.dumps(found, default=bytes.decode) == json.dumps(stored, default=bytes.decode)

    with Cache(clock=clock) as reading:
        reading.set_many(before)
        reading.set(case["key"], stored)
        origin.asked = 0
        got = await client(kind, reading, origin, clock=clock, **options)(asked)
        assert (got.status, got.body) == (origin.answer["status"], origin.answer["body"].encode())
        assert origin.asked == ("pass" in stored)
        for name, value in stored.get("fields", []):
            assert name == "vary" or got.headers[name] == value
