"""Copies of a server's value keep their promises; the model detects it when a rule is missing."""

from __future__ import annotations

import pytest

from remote import RULES, explore

# Operations of the host; then sets and clears by others, and connections that are lost.
SHAPES = [
    (("read", "read"), 2, 0, 0),
    (("read", "read"), 1, 1, 0),
    (("read", "read"), 1, 0, 1),
    (("read", "read"), 0, 1, 1),
    (("read", "set"), 1, 0, 1),
    (("read", "read", "set"), 1, 0, 0),
    (("read", "read", "clear"), 0, 0, 0),
    (("read", "read", "clear"), 1, 0, 0),
    (("read", "direct", "read"), 1, 0, 0),
    (("read", "direct", "set"), 1, 0, 0),
    (("read", "set", "set"), 0, 0, 1),
    (("read", "read", "read"), 0, 1, 0),
]


def name(value: object) -> str:
    return "+".join(value) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(("kinds", "sets", "clears", "losses"), SHAPES, ids=name)
def test_every_moment_keeps_every_promise(
    kinds: tuple[str, ...], sets: int, clears: int, losses: int
) -> None:
    found = explore(kinds, sets, clears, losses)
    assert found.wrong == "", "\n".join(found.story)


@pytest.mark.parametrize("rule", RULES)
def test_without_this_rule_a_promise_is_broken(rule: str) -> None:
    results = (explore(*shape, without=rule) for shape in SHAPES)
    found = next((result for result in results if result.wrong), None)
    assert found is not None
    assert found.story
