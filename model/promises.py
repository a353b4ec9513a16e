"""What must hold at every moment. Each promise returns what is wrong, or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from state import Kind, State, Word

# By the operation's name: its effect on other operations' values.
REMOVES = ("delete", "clear")
STORES = ("put", "load", "beside")

# The origin of the value that was there at first: older than everything else.
BEFORE_ALL = -1


def one_value(kinds: Sequence[str], state: State) -> str | None:
    """A key has at most one value (I3 of spec/host.md)."""
    values = [word for word in state.slots if word.kind is Kind.VALUE]
    return "the key stands twice" if len(values) > 1 else None


def nothing_stale(kinds: Sequence[str], state: State) -> str | None:
    """What a read would find now is not older than an acknowledged write or clear.

    A hit is a single moment, that of a read's second look at the word, so this covers reads too. A
    load's value is as old as the begin of its loader.
    """
    for word in _readable(state):
        for number, actor in enumerate(state.actors):
            if state.ended >> number & 1 and _was_over(actor.over, word.origin):
                was = "the first value" if word.origin == BEFORE_ALL else name(kinds, word.origin)
                return f"{was} can be read, though {name(kinds, number)} came later and is over"
    return None


def nothing_lost(kinds: Sequence[str], state: State) -> str | None:
    """An acknowledged value is there until something removes or evicts it."""
    if any(word.kind is Kind.VALUE and word.born >= state.floor for word in state.slots):
        return None
    for number in _lasting(kinds, state, state.ended):
        return f"nothing can be read, though {name(kinds, number)} is acknowledged"
    return None


def no_false_miss(kinds: Sequence[str], state: State) -> str | None:
    """A slow read does not miss a value that was there all the time."""
    for reader, actor in enumerate(state.actors):
        if kinds[reader] == "read" and actor.step == "missed":
            for number in _lasting(kinds, state, actor.over):
                return f"{name(kinds, reader)} missed {name(kinds, number)}, which it began after"
    return None


PROMISES: list[Callable[[Sequence[str], State], str | None]] = [
    one_value,
    nothing_stale,
    nothing_lost,
    no_false_miss,
]


def name(kinds: Sequence[str], number: int) -> str:
    """An actor's name in a story."""
    return f"{kinds[number]} {number}"


def _readable(state: State) -> list[Word]:
    """The values that some reader may be served, by the floor that it remembers."""
    found = [word for word in state.slots if word.kind is Kind.VALUE]
    return [word for word in found if word.born >= state.cached_floor]


def _was_over(over: int, origin: int) -> bool:
    return origin == BEFORE_ALL or bool(over >> origin & 1)


def _lasting(kinds: Sequence[str], state: State, acknowledged: int) -> list[int]:
    """Of these acknowledged values, those that nothing can have removed: every delete and clear
    that began was over before they were made."""
    if state.evicted:
        return []
    begun = sum(
        1 << number
        for number, actor in enumerate(state.actors)
        if kinds[number] in REMOVES and actor.step != "start"
    )
    return [
        number
        for number, actor in enumerate(state.actors)
        if kinds[number] in STORES and acknowledged >> number & 1 and not begun & ~actor.gone
    ]
