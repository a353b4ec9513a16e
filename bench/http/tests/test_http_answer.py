"""An answer counts only when it holds just what the stream holds."""

import html
import json

import pytest

from harness.worker import Unavailable
from serving import answer

WANTED = [["1-0", ["color", "red", "width", "0"]], ["2-0", ["color", "teal", "width", "5.5"]]]
OBJECTS = [
    {"id": "1-0", "message": {"color": "red", "width": "0"}},
    {"id": "2-0", "message": {"color": "teal", "width": "5.5"}},
]
PAIRS = [["1-0", {"color": "red", "width": "0"}], ["2-0", {"color": "teal", "width": "5.5"}]]
END = 1_700_000_000_123
DATE = "2023-11-14T22:13:20.123Z"


def body(value=WANTED, **changed):
    times = {"start": END - 3, "end": END, "endDate": DATE}
    return json.dumps({"value": value, **times, **changed})


@pytest.mark.parametrize("value", [WANTED, OBJECTS, PAIRS])
def test_all_clients_shapes_are_the_stream(value):
    answer.check(body(value), WANTED)
    answer.check(json.dumps(value), WANTED, alone=True)


def test_a_page_shows_its_answer():
    answer.check(f"<html><pre>{html.escape(body())}</pre></html>", WANTED)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Internal Server Error", "not JSON"),
        ("[]", "did not answer"),
        (json.dumps({"value": WANTED}), "did not answer"),
        (body(WANTED[:1]), "not those of the stream"),
        (body(OBJECTS[::-1]), "not those of the stream"),
        (body(PAIRS[::-1]), "not those of the stream"),
        (body([[one, {}] for one, _ in PAIRS]), "not those of the stream"),
        (body(start=END + 1), "it read from"),
        (body(endDate="2023-11-14T22:13:21Z"), "is not its end"),
    ],
)
def test_other_answers_are_refused(text, why):
    with pytest.raises(Unavailable, match=why):
        answer.check(text, WANTED)
