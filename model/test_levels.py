"""A growing index keeps its promises, and the model detects it when a rule is missing."""

from __future__ import annotations

import pytest

from levels import EMPTY, OTHER, RULES, VALUE, Word, explore

STARTS = [(EMPTY, EMPTY, EMPTY), (OTHER, OTHER, EMPTY), (OTHER, VALUE, EMPTY)]
OPERATIONS = [
    ("put", "put"),
    ("put", "load"),
    ("load", "load"),
    ("load", "beside"),
    ("put", "read"),
    ("put", "delete"),
    ("put", "delete", "read"),
    ("load", "delete"),
    ("load", "beside", "put"),
]
CONFIGURATIONS = [(kinds, slots) for kinds in OPERATIONS for slots in STARTS]


def name(value: object) -> str:
    if isinstance(value, tuple) and isinstance(value[0], tuple):
        return " ".join(word[0] for word in value)
    return " ".join(value) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(("kinds", "slots"), CONFIGURATIONS, ids=name)
def test_every_moment_keeps_every_promise(
    kinds: tuple[str, ...], slots: tuple[Word, Word, Word]
) -> None:
    found = explore(kinds, slots)
    assert found.wrong == "", "\n".join(found.story)


@pytest.mark.parametrize("rule", RULES)
def test_without_this_rule_a_promise_is_broken(rule: str) -> None:
    found = next(
        (found for kinds, slots in CONFIGURATIONS if (found := explore(kinds, slots, rule)).wrong),
        None,
    )
    assert found is not None
    assert found.story
