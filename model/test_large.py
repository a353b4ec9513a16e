"""Large values keep their promises, and the model detects it when a rule is missing."""

from __future__ import annotations

import pytest

from large import RULES, explore

CONFIGURATIONS = [
    (("write", "read"), 2, 1),
    (("write", "write", "read"), 4, 1),
    (("write", "write"), 3, 1),
    (("write", "clean", "read"), 2, 1),
    (("write", "remove", "clean", "write"), 3, 1),
    (("write", "remove", "clean", "clean", "write", "read"), 2, 0),
    (("write", "touch", "clean", "read"), 3, 1),
    (("write", "touch", "remove", "clean", "write"), 3, 0),
    (("write", "touch", "clean", "clean", "write"), 3, 0),
]


@pytest.mark.parametrize(("kinds", "blocks", "kills"), CONFIGURATIONS, ids=str)
def test_every_moment_keeps_every_promise(kinds: tuple[str, ...], blocks: int, kills: int) -> None:
    found = explore(kinds, blocks, kills)
    assert found.wrong == "", "\n".join(found.story)


@pytest.mark.parametrize("rule", RULES)
def test_without_this_rule_a_promise_is_broken(rule: str) -> None:
    found = next(
        (
            found
            for kinds, blocks, kills in CONFIGURATIONS
            if (found := explore(kinds, blocks, kills, rule)).wrong
        ),
        None,
    )
    assert found is not None
    assert found.story
