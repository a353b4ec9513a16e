"""Calls of every command of three servers, with the positions of the keys that these servers find
themselves (spec/vectors/commands.json), and cases of errors, replies and events."""

import json
from pathlib import Path
from typing import Any

import pytest

from polycache import PolycacheError
from polycache.redis_namespace import CommandTable, Prefix, Rewriter, Session
from polycache.redis_namespace.replies import message

SPEC = Path(__file__).resolve().parents[3] / "spec"
TABLE = CommandTable()
CASES = json.loads((SPEC / "vectors" / "namespaces.json").read_text("utf-8"))


def other(value: Any) -> Any:
    """The same with bytes for text."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list):
        return [other(one) for one in value]
    if isinstance(value, dict):
        return {other(key): other(one) for key, one in value.items()}
    return value


def case(example: dict[str, Any]) -> str:
    return json.dumps(list(example.values())[:2])


def rewriter_of(example: dict[str, Any]) -> Rewriter:
    names = ("separator", "allow", "commands")
    return Rewriter(
        example["namespace"], **{name: example[name] for name in names if name in example}
    )


def test_the_copy_of_the_table_is_fresh() -> None:
    copy = Path(__file__).parents[2] / "src" / "polycache" / "redis_namespace" / "commands.json"
    assert copy.read_bytes() == (SPEC / "commands.json").read_bytes()


@pytest.mark.parametrize("form", [lambda words: words, other], ids=["text", "bytes"])
def test_keys_are_rewritten_and_nothing_else(form: Any) -> None:
    prefix = Prefix("shop")
    calls = json.loads((SPEC / "vectors" / "commands.json").read_text("utf-8"))
    assert len(calls) > 1000
    for words, prefixed in calls:
        expected = [f"shop:{word}" if at in prefixed else word for at, word in enumerate(words)]
        said = form(words)
        assert TABLE.find(said).rewrite([*said], prefix) == form(expected), words
        sent, _ = Session(Rewriter("shop")).rewrite(said)
        narrowed = ("SCAN", "PUBSUB")
        assert list(sent)[: len(words)] == form(expected) or words[0] in narrowed, words


@pytest.mark.parametrize("example", CASES["commands"], ids=case)
@pytest.mark.parametrize("form", [lambda words: words, other], ids=["text", "bytes"])
def test_commands(example: dict[str, Any], form: Any) -> None:
    session = Session(rewriter_of(example))
    words = form(example["words"])
    if "error" in example:
        with pytest.raises(PolycacheError) as error:
            session.rewrite(words)
        assert error.value.code == example["error"]
    else:
        sent = [
            word.encode() if isinstance(word, str) else word for word in session.rewrite(words)[0]
        ]
        assert sent == other(example["sent"])
    assert words == form(example["words"])


@pytest.mark.parametrize("example", CASES["replies"], ids=case)
@pytest.mark.parametrize("form", [lambda reply: reply, other], ids=["text", "bytes"])
def test_replies(example: dict[str, Any], form: Any) -> None:
    session = Session(rewriter_of(example))
    _, call = session.rewrite(example["words"])
    session.waiting.append(call)
    assert session.received(form(example["reply"])) == form(example["returns"])


@pytest.mark.parametrize("example", CASES["events"], ids=case)
@pytest.mark.parametrize("form", [lambda event: event, other], ids=["text", "bytes"])
def test_events(example: dict[str, Any], form: Any) -> None:
    rewriter = rewriter_of(example)
    assert message(form(example["event"]), rewriter.prefix) == form(example["told"])
    assert Session(rewriter).told(form(example["event"])) == form(example["told"])


@pytest.mark.parametrize("example", CASES["options"], ids=json.dumps)
def test_options_that_are_wrong(example: dict[str, Any]) -> None:
    with pytest.raises(PolycacheError) as error:
        rewriter_of(example)
    assert error.value.code == example["error"]


@pytest.mark.parametrize("example", CASES["transactions"], ids=lambda example: example["says"])
@pytest.mark.parametrize("form", [lambda words: words, other], ids=["text", "bytes"])
def test_transactions(example: dict[str, Any], form: Any) -> None:
    session = Session(rewriter_of(example))
    for step in example["steps"]:
        session.waiting.append(session.rewrite(form(step["words"]))[1])
        if "fails" in step:
            session.failed()
        else:
            assert session.received(form(step["reply"])) == form(step["returns"])
