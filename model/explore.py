"""Visits every state that the actors' steps can lead to, in any order of steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from operations import OPERATIONS, Rule
from promises import PROMISES, name
from state import EMPTY, OTHER, Actor, Kind, State, Word

FIRST_WORDS = {".": EMPTY, "o": OTHER, "v": Word(Kind.VALUE)}


@dataclass(frozen=True)
class Configuration:
    """Actors, by the names of their operations, and what happens around them."""

    kinds: tuple[str, ...]
    slots: str = "o.."  # what stands there at first: nothing, another key's value, the key's value
    evictions: int = 0
    neighbours_leave: int = 1
    moves: int = 0
    kills: int = 0

    def first(self) -> State:
        return State(
            slots=tuple(FIRST_WORDS[letter] for letter in self.slots),
            actors=tuple(Actor() for _ in self.kinds),
            evictions=self.evictions,
            neighbours_leave=self.neighbours_leave,
            moves=self.moves,
            kills=self.kills,
        )

    def __str__(self) -> str:
        around = {
            "evictions": self.evictions,
            "neighbours leave": self.neighbours_leave,
            "moves": self.moves,
            "kills": self.kills,
        }
        events = ", ".join(f"{count} {what}" for what, count in around.items() if count)
        return f"{' | '.join(self.kinds)} on {self.slots}{f' ({events})' if events else ''}"


@dataclass(frozen=True)
class SearchResult:
    """The result of a search. `wrong` is empty when every moment keeps every promise."""

    moments: int
    wrong: str = ""
    story: tuple[str, ...] = ()
    complete: bool = True


def explore(
    configuration: Configuration, without: str = "", at_most: int | None = None
) -> SearchResult:
    """Breadth first, so that the story of what went wrong is a shortest one."""

    def rule(name: str) -> bool:
        return name != without

    kinds = configuration.kinds
    first = configuration.first()
    came_from: dict[State, State | None] = {first: None}
    todo = [first]
    while todo:
        after: list[State] = []
        for state in todo:
            for next_state in _next(kinds, state, rule):
                if next_state in came_from:
                    continue
                came_from[next_state] = state
                for promise in PROMISES:
                    if wrong := promise(kinds, next_state):
                        return SearchResult(
                            len(came_from), wrong, _story(kinds, came_from, next_state)
                        )
                after.append(next_state)
        if at_most and len(came_from) > at_most:
            return SearchResult(len(came_from), complete=False)
        todo = after
    return SearchResult(len(came_from))


def _next(kinds: tuple[str, ...], state: State, rule: Rule) -> Iterator[State]:
    for number, kind in enumerate(kinds):
        if state.actors[number].step not in ("end", "killed"):
            yield from OPERATIONS[kind](state, number, rule)
    yield from _around(state)


def _around(state: State) -> Iterator[State]:
    """Recycling's effect on the slots, and the system's on processes."""
    for slot, word in enumerate(state.slots):
        if word.kind is Kind.VALUE and state.evictions:
            left = state._replace(evictions=state.evictions - 1, evicted=True)
            yield left.with_word(slot, EMPTY)
        if word.kind is Kind.VALUE and state.moves:
            yield state._replace(moves=state.moves - 1).with_word(slot, word)
        if word.kind is Kind.OTHER and state.neighbours_leave:
            left = state._replace(neighbours_leave=state.neighbours_leave - 1)
            yield left.with_word(slot, EMPTY)
    if state.kills:
        for number, actor in enumerate(state.actors):
            if actor.step not in ("start", "end", "killed"):
                killed = actor._replace(step="killed", mine=None, other=None)
                yield state._replace(kills=state.kills - 1).with_actor(number, killed)


def _story(
    kinds: tuple[str, ...], came_from: dict[State, State | None], last: State
) -> tuple[str, ...]:
    """The steps to a moment, a line each."""
    path = [last]
    while (before := came_from[path[-1]]) is not None:
        path.append(before)
    path.reverse()
    return tuple(_line(kinds, a, b) for a, b in pairwise(path))


def _line(kinds: tuple[str, ...], before: State, after: State) -> str:
    who = "around"
    for number, (a, b) in enumerate(zip(before.actors, after.actors, strict=True)):
        # Only the acting process continues; others learn at most that a word no longer stands.
        if (a.step, a.at) != (b.step, b.at):
            who = f"{name(kinds, number)}: {a.step}"
    slots = "  ".join(_word(kinds, word) for word in after.slots)
    return f"{who:28}{slots}"


def _word(kinds: tuple[str, ...], word: Word) -> str:
    if word.origin < 0:
        return word.kind.value
    return f"{word.kind.value} of {name(kinds, word.origin)}"
