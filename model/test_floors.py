"""A floor's cell keeps its promises, and the model detects it when a rule is missing."""

from __future__ import annotations

import pytest

from floors import RULES, explore

# What meets, whether the key has a value at first, and how many operations are killed.
CONFIGURATIONS = [
    (("put", "clear A", "survey"), True, 1),
    (("put large", "clear A", "survey"), True, 1),
    (("clear A", "read", "survey"), True, 1),
    (("clear B", "read", "clear A"), True, 1),
    (("load", "clear A", "survey"), False, 1),
    (("put", "clear B", "read"), False, 1),
    (("clear A", "clear B", "survey"), True, 0),
    (("clear A", "clear A", "reuse"), True, 0),
    (("put", "clear A", "survey", "reuse"), False, 0),
    (("put large", "clear A", "survey", "reuse"), False, 0),
    (("load", "clear A", "survey", "reuse"), False, 0),
    (("read", "clear A", "survey", "reuse"), True, 0),
    (("survey", "survey", "clear A"), True, 1),
]


@pytest.mark.parametrize(("kinds", "there", "kills"), CONFIGURATIONS, ids=str)
def test_every_moment_keeps_every_promise(kinds: tuple[str, ...], there: bool, kills: int) -> None:
    found = explore(kinds, there, kills)
    assert found.wrong == "", "\n".join(found.story)


@pytest.mark.parametrize("rule", RULES)
def test_without_this_rule_a_promise_is_broken(rule: str) -> None:
    searches = (explore(*configuration, rule) for configuration in CONFIGURATIONS)
    found = next((found for found in searches if found.wrong), None)
    assert found is not None
    assert found.story
