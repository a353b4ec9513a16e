"""The protocol keeps its promises, and the model detects it when a rule is missing."""

from __future__ import annotations

import pytest

import configurations
import rules
from explore import Configuration, SearchResult, explore
from promises import no_false_miss, one_value
from state import EMPTY, Actor, Kind, State, Word


@pytest.mark.parametrize("configuration", configurations.QUICK, ids=str)
def test_every_moment_keeps_every_promise(configuration: Configuration) -> None:
    found = explore(configuration)
    assert found.wrong == "", "\n".join(found.story)
    assert found.complete


def _first_found(rule: str) -> SearchResult | None:
    found = (explore(configuration, rule) for configuration in configurations.SMALL)
    return next((each for each in found if each.wrong), None)


@pytest.mark.parametrize("rule", rules.NEEDED)
def test_without_this_rule_a_promise_is_broken(rule: str) -> None:
    found = _first_found(rule)
    assert found is not None
    assert found.story


@pytest.mark.parametrize("rule", rules.SAVING)
def test_without_this_rule_only_work_is_lost(rule: str) -> None:
    assert _first_found(rule) is None


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("later-record-stays", "nothing can be read, though put 1 is acknowledged"),
        ("delete-invalidates-leases", "load 0 can be read, though delete 1 came later and is over"),
        ("born-before-load", "load 0 can be read, though clear 1 came later and is over"),
        ("beside-rescans", "the key stands twice"),
    ],
)
def test_it_says_which_promise(rule: str, wrong: str) -> None:
    found = _first_found(rule)
    assert found is not None
    assert found.wrong == wrong


def test_a_search_that_was_cut_off_says_so() -> None:
    assert not explore(Configuration(("put", "put")), at_most=100).complete


def test_a_read_that_misses_what_was_there_is_wrong() -> None:
    """No rule that the protocol could leave out breaks this promise, so a state made by hand shows
    it."""
    put, missed = Actor(step="end"), Actor(step="missed", over=0b01)
    state = State(slots=(EMPTY,) * 3, actors=(put, missed), ended=0b01)
    assert no_false_miss(("put", "read"), state) == "read 1 missed put 0, which it began after"
    assert no_false_miss(("put", "read"), state._replace(evicted=True)) is None


def test_two_values_are_one_too_many() -> None:
    value = Word(Kind.VALUE)
    state = State(slots=(value, EMPTY, EMPTY), actors=())
    assert one_value((), state) is None
    assert one_value((), state.with_word(2, value))
