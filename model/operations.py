"""The operations of spec/host.md on one key, in atomic steps.

Each function takes a moment and an actor's number, and yields the moments that its next step may
lead to. One step is one access to shared memory; what a process does by itself belongs to the step
before. `rule` says whether a rule of the protocol is kept: see `rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from state import EMPTY, SLOTS, Actor, Kind, Seen, State, Word

Rule = Callable[[str], bool]
Steps = Iterator[State]


def put(state: State, me: int, rule: Rule) -> Steps:
    """Stores a value: replaces the key's own, or inserts."""
    actor = state.actors[me]
    match actor.step:
        case "start":
            yield _began(state, me, "born")
        case "born":
            yield _goes(state, me, step="scan", born=state.clears)
        case "scan" if actor.at == SLOTS:
            yield from _choose(state, me, even_leases=True)
        case "scan":
            word, seen = state.slots[actor.at], Seen(actor.at)
            if word.kind is Kind.VALUE:
                if word.born > actor.born and rule("later-record-stays"):
                    yield _ended(state, me)
                else:
                    yield _goes(state, me, step="replace", mine=seen)
            else:
                yield _scanned(state, me, word)
        case "replace":
            yield _ended(_value(state, me), me) if _stands(actor.mine) else _again(state, me)
        case "insert" if not rule("insert-leases-first"):
            yield _ended(_value(state, me), me) if _stands(actor.mine) else _again(state, me)
        case "insert":
            yield _leased(state, me)
        case "rescan" if actor.at == SLOTS or not rule("insert-rescans"):
            yield _goes(state, me, step="publish")
        case "rescan":
            word = state.slots[actor.at]
            if _is_mine(actor):
                yield _goes(state, me, at=actor.at + 1)
            elif word.kind is Kind.VALUE:
                yield _goes(state, me, step="release")
            elif word.kind is Kind.LEASE and rule("insert-invalidates-leases"):
                yield _goes(state, me, step="invalidate", other=Seen(actor.at))
            else:
                yield _goes(state, me, at=actor.at + 1)
        case "invalidate":
            yield _invalidated(state, me, "rescan")
        case "release":
            yield _released(state, me)
        case "publish":
            yield _ended(_value(state, me), me) if _stands(actor.mine) else _again(state, me)


def load(state: State, me: int, rule: Rule, *, impatient: bool = False) -> Steps:
    """Reads the key, or leases it, loads and fills. If it meets another's lease it waits, which
    ends it here, or, if `impatient`, has waited long enough and loads beside the holder."""
    actor = state.actors[me]
    match actor.step:
        case "start":
            yield _goes(state, me, step="scan")
        case "scan" if actor.at == SLOTS:
            yield from _choose(state, me, even_leases=False)
        case "scan":
            word, seen = state.slots[actor.at], Seen(actor.at)
            if word.kind is Kind.VALUE and word.born >= state.floor:
                yield _left(state, me)
            elif word.kind is Kind.VALUE:
                yield _goes(state, me, step="unlink", other=seen)
            elif word.kind is not Kind.LEASE:
                yield _scanned(state, me, word)
            elif _is_dead(state, word):
                yield _goes(state, me, step="insert", mine=seen)
            elif impatient:
                yield _goes(state, me, step="beside", at=0, mine=seen)
            else:
                yield _left(state, me)
        case "unlink":
            if _stands(actor.other):
                state = state.with_word(actor.at, EMPTY)
            yield _again(state, me)
        case "insert":
            yield _leased(state, me)
        case "rescan" if actor.at == SLOTS or not rule("insert-rescans"):
            yield _goes(state, me, step="look" if rule("loader-looks-again") else "born")
        case "rescan":
            met = _met(state, actor)
            if met == "value" or (met == "lease" and rule("loader-yields")):
                yield _goes(state, me, step="release")
            else:
                yield _next_look(state, me, dead=met == "dead lease")
        case "invalidate":
            yield _invalidated(state, me, "rescan")
        case "release":
            yield _released(state, me)
        case "look":
            yield _goes(state, me, step="born") if _stands(actor.mine) else _again(state, me)
        case "born":
            yield _goes(state, me, step="load", born=state.clears, gone=state.ended)
        case "beside" if actor.at == SLOTS or not rule("beside-rescans"):
            yield _goes(state, me, step="beside born")
        case "beside":
            met = _met(state, actor)
            if met in ("value", "lease"):
                yield _again(state, me)
            else:
                yield _next_look(state, me, dead=met == "dead lease")
        case "beside invalidate":
            yield _invalidated(state, me, "beside")
        case "beside born":
            step = "look beside" if rule("beside-looks-again") else "load beside"
            yield _goes(state, me, step=step, born=state.clears, gone=state.ended)
        case "look beside":
            if _stands(actor.mine):
                yield _goes(state, me, step="load beside")
            else:
                yield _again(state, me)
        case "load" | "load beside":
            publish = actor.step.replace("load", "publish")
            then = publish if rule("born-before-load") else publish.replace("publish", "late born")
            # For a clear it began when it noted the count of clears; for all others it begins now.
            state = _goes(state, me, step=then, over=state.made)
            yield state._replace(made=state.made | 1 << me)
        case "late born" | "late born beside":
            publish = actor.step.replace("late born", "publish")
            yield _goes(state, me, step=publish, born=state.clears)
        case "publish" | "publish beside":
            kept = rule("fill-over-its-word" if actor.step == "publish" else "beside-over-its-word")
            assert actor.mine
            there = state.slots[actor.mine.slot].kind
            if actor.mine.stands or (not kept and there in (Kind.LEASE, Kind.EMPTY)):
                yield _ended(_value(state, me), me)
            else:
                yield _left(state, me)


def beside(state: State, me: int, rule: Rule) -> Steps:
    """A load by a caller that has waited long enough."""
    return load(state, me, rule, impatient=True)


def delete(state: State, me: int, rule: Rule) -> Steps:
    """Removes the key's value and invalidates its loads, in one pass."""
    actor = state.actors[me]
    match actor.step:
        case "start":
            yield _began(state, me, "scan")
        case "scan" if actor.at == SLOTS:
            yield _ended(state, me)
        case "scan":
            kind = state.slots[actor.at].kind
            if kind is Kind.VALUE or (kind is Kind.LEASE and rule("delete-invalidates-leases")):
                yield _goes(state, me, step="remove", other=Seen(actor.at))
            else:
                yield _goes(state, me, at=actor.at + 1)
        case "remove":
            yield _invalidated(state, me, "scan")


def clear(state: State, me: int, rule: Rule) -> Steps:
    """Raises the floor of the key's namespace."""
    actor = state.actors[me]
    match actor.step:
        case "start":
            yield _began(state, me, "count")
        case "count":
            clears = state.clears + 1 if rule("clear-counts") else state.clears
            yield _goes(state._replace(clears=clears), me, step="raise", born=clears)
        case "raise":
            floor = max(state.floor, actor.born)
            yield _goes(state._replace(floor=floor), me, step="epoch")
        case "epoch":
            if rule("clear-moves-epoch"):
                state = state._replace(cached_floor=state.floor)
            yield _ended(state, me)


def read(state: State, me: int, rule: Rule) -> Steps:
    """Searches for the key, slot by slot. `promises.py` judges what it may find or miss."""
    actor = state.actors[me]
    match actor.step:
        case "start":
            # The acknowledged writes that came before this read.
            yield _goes(state, me, step="scan", over=state.ended)
        case "scan" if actor.at == SLOTS:
            yield _goes(state, me, step="missed")
        case "scan":
            word = state.slots[actor.at]
            if word.kind is not Kind.VALUE:
                yield _goes(state, me, at=actor.at + 1)
            else:
                yield _goes(state, me, step="look", other=Seen(actor.at), born=word.born)
        case "look":
            yield _goes(state, me, step="floor") if _stands(actor.other) else _again(state, me)
        case "floor" if actor.born < state.floor:
            yield _goes(state, me, step="missed")
        case "floor" | "missed":
            yield _left(state, me)


def _began(state: State, me: int, step: str) -> State:
    """Notes what is over: it may not outlive this operation."""
    return _goes(state, me, step=step, over=state.made, gone=state.ended)


def _goes(state: State, me: int, **changes: object) -> State:
    return state.with_actor(me, state.actors[me]._replace(**changes))  # type: ignore[arg-type]


def _again(state: State, me: int) -> State:
    """Starts over, after a lost race."""
    return _goes(state, me, step="scan", at=0, mine=None, other=None)


def _left(state: State, me: int) -> State:
    """It is over without a change: nothing of it matters any more."""
    return state.with_actor(me, Actor(step="end"))


def _ended(state: State, me: int) -> State:
    """It is acknowledged."""
    actor = state.actors[me]
    # Deletes and clears make no value: their bits are harmless.
    state = state._replace(ended=state.ended | 1 << me, made=state.made | 1 << me)
    return state.with_actor(me, Actor(step="end", over=actor.over, gone=actor.gone))


def _value(state: State, me: int) -> State:
    """The word that the actor builds on becomes its value."""
    actor = state.actors[me]
    assert actor.mine
    return state.with_word(actor.mine.slot, Word(Kind.VALUE, me, actor.born))


def _scanned(state: State, me: int, word: Word) -> State:
    """A slot that holds nothing of the key; the first empty one is remembered."""
    actor = state.actors[me]
    mine = Seen(actor.at) if word.kind is Kind.EMPTY and not actor.mine else actor.mine
    return _goes(state, me, at=actor.at + 1, mine=mine)


def _choose(state: State, me: int, *, even_leases: bool) -> Steps:
    """Takes the empty slot that was seen, else a neighbour's; a put takes even a lease."""
    if state.actors[me].mine:
        yield _goes(state, me, step="insert")
        return
    for kind in (Kind.OTHER, Kind.LEASE) if even_leases else (Kind.OTHER,):
        slots = [slot for slot, word in enumerate(state.slots) if word.kind is kind]
        for slot in slots:
            yield _goes(state, me, step="insert", mine=Seen(slot))
        if slots:
            return
    # Everything changed meanwhile, or there is no room: a put tries again, a load continues
    # without.
    yield _again(state, me) if even_leases else _left(state, me)


def _leased(state: State, me: int) -> State:
    """Swaps the word that it builds on for its own lease."""
    mine = state.actors[me].mine
    if not _stands(mine):
        return _again(state, me)
    assert mine
    state = state.with_word(mine.slot, Word(Kind.LEASE, me))
    return _goes(state, me, step="rescan", at=0, mine=Seen(mine.slot))


def _invalidated(state: State, me: int, then: str) -> State:
    """Empties the word that it met; if that changed meanwhile, it looks at the slot again."""
    actor = state.actors[me]
    if not _stands(actor.other):
        return _goes(state, me, step=then, other=None)
    state = state.with_word(actor.at, EMPTY)
    return _goes(state, me, step=then, at=actor.at + 1, other=None)


def _released(state: State, me: int) -> State:
    """Returns its lease and starts over."""
    mine = state.actors[me].mine
    if _stands(mine):
        assert mine
        state = state.with_word(mine.slot, EMPTY)
    return _again(state, me)


def _met(state: State, actor: Actor) -> Literal["value", "lease", "dead lease", ""]:
    """What a loader's rescan finds in a slot."""
    word = state.slots[actor.at]
    if _is_mine(actor):
        return ""
    match word.kind:
        case Kind.VALUE:
            return "value"
        case Kind.LEASE:
            return "dead lease" if _is_dead(state, word) else "lease"
    return ""


def _next_look(state: State, me: int, *, dead: bool) -> State:
    """Continues its rescan, past a slot or by invalidating a dead lease in it."""
    actor = state.actors[me]
    if dead:
        step = "invalidate" if actor.step == "rescan" else "beside invalidate"
        return _goes(state, me, step=step, other=Seen(actor.at))
    return _goes(state, me, at=actor.at + 1)


def _is_mine(actor: Actor) -> bool:
    """The scan is at the slot that the actor builds on."""
    return actor.mine is not None and actor.mine.slot == actor.at


def _is_dead(state: State, word: Word) -> bool:
    return word.kind is Kind.LEASE and state.actors[word.origin].step == "killed"


def _stands(seen: Seen | None) -> bool:
    return seen is not None and seen.stands


OPERATIONS: dict[str, Callable[[State, int, Rule], Steps]] = {
    "put": put,
    "load": load,
    "beside": beside,
    "delete": delete,
    "clear": clear,
    "read": read,
}
