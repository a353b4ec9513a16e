"""The life of a block keeps its promises, and the model detects it when a rule is missing."""

from __future__ import annotations

import pytest

from blocks import RULES, explore

CONFIGURATIONS = [
    (("write", "write"), 2),
    (("write", "clean"), 2),
    (("clean", "clean", "write"), 1),
    (("write", "write", "clean"), 1),
    (("write", "write", "close 0"), 1),
    (("write", "write", "clean", "close 1"), 0),
    (("write", "clean", "write", "close 1"), 1),
    (("write", "write", "write", "clean"), 1),
    (("write", "clean", "clean", "write"), 1),
]


@pytest.mark.parametrize(("kinds", "kills"), CONFIGURATIONS, ids=str)
def test_every_moment_keeps_every_promise(kinds: tuple[str, ...], kills: int) -> None:
    found = explore(kinds, kills)
    assert found.wrong == "", "\n".join(found.story)


@pytest.mark.parametrize("rule", RULES)
def test_without_this_rule_a_promise_is_broken(rule: str) -> None:
    found = next(
        (found for kinds, kills in CONFIGURATIONS if (found := explore(kinds, kills, rule)).wrong),
        None,
    )
    assert found is not None
    assert found.story
