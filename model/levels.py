"""The slots of one key while the index grows by a level, which opens at any moment.

`spec/host.md`, "Levels". Slots 0 and 1 are level 0, slot 2 is level 1. An operation reads the
number of levels when it begins, and looks at the slots of the levels that it knows, the newest
first. A neighbour may leave, so that an insert finds any slot empty. One step is one access to
shared memory, as in `operations.py`, which has what does not depend on levels: clears, takes,
touches, dead holders.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from search import Rule, SearchResult, all_but, search

RULES = {
    "rescans": "an inserter looks at the other slots after its lease",
    "insert-reads-levels-again": "an inserter starts over if a level was opened meanwhile",
    "load-reads-levels-again": "so does one that takes a lease to load",
    "beside-reads-levels-after-lease": "one that loads beside a holder reads them after the lease",
    "epoch-moves-with-levels": "the epoch moves in the same step as the number of levels",
}

SLOTS = {1: (1, 0), 2: (2, 1, 0)}  # by levels known, the newest level's first
FIRST_OF_LEVEL_1 = 2

Word = tuple[str, int, int]  # empty other value lease; the actor that wrote it, and at which start
EMPTY: Word = ("empty", -1, 0)
OTHER: Word = ("other", -1, 0)  # a neighbour's value
VALUE: Word = ("value", -1, 0)  # of the key, from before


class Actor(NamedTuple):
    """One operation: put, load, beside, delete, read."""

    kind: str
    step: str = "start"
    levels: int = 0  # that it knows
    at: int = 0  # place in the slots that it looks at
    slot: int = -1  # found empty, then leased
    word: Word = EMPTY  # what it expects there
    starts: int = 0


class Moment(NamedTuple):
    """The words, the number of levels, and every actor's position."""

    slots: tuple[Word, Word, Word]
    actors: tuple[Actor, ...]
    levels: int = 1
    epoch: int = 0
    evictions: int = 1  # that may still happen
    departures: int = 1  # of neighbours
    # Bits by actor: values that ended or loads that began; what must never be seen again.
    born: int = 0
    forbidden: int = 0
    before: tuple[int, ...] = ()
    # Since when the key has stood without a break: actors that began later must find it.
    began_since: int = 0
    most_starts: int = 2
    wrong: str = ""


def explore(
    kinds: tuple[str, ...], slots: tuple[Word, Word, Word], without: str = ""
) -> SearchResult:
    """Visits every moment, breadth first: the story of what went wrong is a shortest one.

    An operation that starts over more than twice, or at all beside two others, is left out.
    """

    rule = all_but(without)
    first = Moment(slots, tuple(Actor(kind) for kind in kinds), before=(0,) * len(kinds))
    first = first._replace(most_starts=2 if len(kinds) < 3 else 0)
    return search(first, lambda moment: _next(moment, rule), _broken, _line)


def _next(moment: Moment, rule: Rule) -> Iterator[Moment]:
    if moment.levels == 1 and moment.epoch == 0:
        if rule("epoch-moves-with-levels"):
            yield moment._replace(levels=2, epoch=1)
        else:
            yield moment._replace(levels=2)
    elif moment.epoch == 0:
        yield moment._replace(epoch=1)
    for slot, word in enumerate(moment.slots):
        if word[0] == "value" and moment.evictions:
            yield _puts(moment, slot, "empty", -1)._replace(evictions=moment.evictions - 1)
        if word[0] == "other" and moment.departures:
            yield _puts(moment, slot, "empty", -1)._replace(departures=moment.departures - 1)
    for me, actor in enumerate(moment.actors):
        if actor.step == "start":
            yield _starts(moment, me)
        elif actor.step != "end":
            step = {"delete": _delete, "read": _read}.get(actor.kind, _insert)
            yield from step(moment, me, rule)


def _starts(moment: Moment, me: int) -> Moment:
    """What ended or is being loaded by now must not outlive this put or delete."""
    ended = sum(1 << i for i, a in enumerate(moment.actors) if a.step == "end" and a.kind == "put")
    before = (*moment.before[:me], ended | moment.born, *moment.before[me + 1 :])
    stands = any(word[0] == "value" for word in moment.slots)
    # A reader knows the levels of epoch 0 from an earlier read; another epoch makes it look.
    known = 1 if moment.epoch == 0 and moment.actors[me].kind == "read" else moment.levels
    moment = moment._replace(before=before)
    if stands:
        moment = moment._replace(began_since=moment.began_since | 1 << me)
    return _goes(moment, me, step="scan", levels=known)


def _read(moment: Moment, me: int, _: Rule) -> Iterator[Moment]:
    """A reader in JavaScript: it knows the levels by the epoch."""
    actor = moment.actors[me]
    slots = SLOTS[actor.levels]
    if actor.at == len(slots):
        if moment.began_since >> me & 1:
            yield _goes(moment, me, step="end")._replace(wrong="a value that stood was missed")
        else:
            yield _goes(moment, me, step="end")
    elif moment.slots[slots[actor.at]][0] == "value":
        yield _goes(moment, me, step="end")
    else:
        yield _goes(moment, me, at=actor.at + 1)


def _delete(moment: Moment, me: int, _: Rule) -> Iterator[Moment]:
    actor = moment.actors[me]
    slots = SLOTS[actor.levels]
    if actor.at == len(slots):
        yield _ends(moment, me)
        return
    slot = slots[actor.at]
    word = moment.slots[slot]
    if actor.step == "scan":
        if word[0] in ("value", "lease"):
            yield _goes(moment, me, step="empty", word=word)
        else:
            yield _goes(moment, me, at=actor.at + 1)
    elif word == actor.word:
        yield _goes(_puts(moment, slot, "empty", -1), me, step="scan", at=actor.at + 1)
    else:
        yield _goes(moment, me, step="scan")


def _insert(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    """A put, a load that takes the lease, or one beside another's lease."""
    actor = moment.actors[me]
    slots = SLOTS[actor.levels]
    there = moment.slots[slots[actor.at]] if actor.at < len(slots) else EMPTY
    stands = moment.slots[actor.slot] == actor.word
    match actor.step:
        case "scan" if actor.at == len(slots):
            if actor.slot >= 0:
                yield _goes(moment, me, step="lease", at=0)
            else:
                yield _goes(moment, me, step="end")  # it would evict
        case "scan" if there[0] == "value" and actor.kind == "put":
            yield _goes(moment, me, step="replace", slot=slots[actor.at], word=there)
        case "scan" if there[0] == "value":
            yield _goes(moment, me, step="end")
        case "scan" if there[0] == "lease" and actor.kind == "beside":
            yield _goes(moment, me, step="look", at=0, slot=slots[actor.at], word=there)
        case "scan" if there[0] == "lease" and actor.kind == "load":
            yield _goes(moment, me, step="end")  # it would wait
        case "scan" if there[0] == "empty" and actor.slot < 0:
            yield _goes(moment, me, at=actor.at + 1, slot=slots[actor.at], word=there)
        case "scan":
            yield _goes(moment, me, at=actor.at + 1)
        case "replace":
            yield (
                _ends(_puts(moment, actor.slot, "value", me), me) if stands else _again(moment, me)
            )
        case "lease" if stands:
            moment = _puts(moment, actor.slot, "lease", me)
            word = moment.slots[actor.slot]
            yield _goes(moment, me, step="rescan" if rule("rescans") else "levels", word=word)
        case "lease":
            yield _again(moment, me)
        case "rescan" if actor.at == len(slots):
            yield _goes(moment, me, step="levels")
        case "rescan" if slots[actor.at] == actor.slot:
            yield _goes(moment, me, at=actor.at + 1)
        case "rescan" if there[0] == "value" or (there[0] == "lease" and actor.kind != "put"):
            yield _releases(moment, me)
        case "rescan" if there[0] == "lease":
            # A look and a compare-and-swap from what was seen: the second fails if it has changed.
            yield _goes(_puts(moment, slots[actor.at], "empty", -1), me, at=actor.at + 1)
        case "rescan":
            yield _goes(moment, me, at=actor.at + 1)
        case "levels":
            mine = "insert" if actor.kind == "put" else "load"
            if moment.levels != actor.levels and rule(f"{mine}-reads-levels-again"):
                yield _releases(moment, me)
            else:
                yield _goes(moment, me, step="publish" if actor.kind == "put" else "load")
        case "look":
            after = rule("beside-reads-levels-after-lease")
            yield _goes(moment, me, step="beside", levels=moment.levels if after else actor.levels)
        case "beside" if actor.at == len(slots):
            yield _goes(moment, me, step="load")
        case "beside" if slots[actor.at] != actor.slot and there[0] in ("value", "lease"):
            yield _again(moment, me)
        case "beside":
            yield _goes(moment, me, at=actor.at + 1)
        case "load" if stands:
            yield _goes(moment, me, step="publish")._replace(born=moment.born | 1 << me)
        case "load":
            yield _again(moment, me)
        case "publish" if stands:
            yield _ends(_puts(moment, actor.slot, "value", me), me)
        case "publish" if actor.kind == "put":
            yield _again(moment, me)
        case "publish":
            yield _goes(moment, me, step="end")


def _puts(moment: Moment, slot: int, state: str, actor: int) -> Moment:
    word = (state, actor, moment.actors[actor].starts if actor >= 0 else 0)
    slots = (*moment.slots[:slot], word, *moment.slots[slot + 1 :])
    moment = moment._replace(slots=slots)  # type: ignore[arg-type]
    if not any(word[0] == "value" for word in slots):
        moment = moment._replace(began_since=0)
    return moment


def _goes(moment: Moment, me: int, **changes: object) -> Moment:
    actor = moment.actors[me]._replace(**changes)  # type: ignore[arg-type]
    return moment._replace(actors=(*moment.actors[:me], actor, *moment.actors[me + 1 :]))


def _again(moment: Moment, me: int) -> Moment:
    actor = moment.actors[me]
    if actor.starts == moment.most_starts:
        return _goes(moment, me, step="end", kind="tired")
    new = Actor(actor.kind, "scan", moment.levels, starts=actor.starts + 1)
    return _goes(moment, me, **new._asdict())


def _releases(moment: Moment, me: int) -> Moment:
    actor = moment.actors[me]
    if moment.slots[actor.slot] == actor.word:
        moment = _puts(moment, actor.slot, "empty", -1)
    return _again(moment, me)


def _ends(moment: Moment, me: int) -> Moment:
    forbidden = moment.forbidden
    if moment.actors[me].kind in ("put", "delete"):
        forbidden |= moment.before[me]
    moment = _goes(moment, me, step="end")
    return moment._replace(forbidden=forbidden & ~(1 << me))


def _broken(moment: Moment) -> str:
    values = [word for word in moment.slots if word[0] == "value"]
    if len(values) > 1:
        return "the key has two values"
    for _, actor, _ in values:
        if actor >= 0 and moment.forbidden >> actor & 1:
            return f"the value of actor {actor} outlived a later put or delete"
    if moment.slots[FIRST_OF_LEVEL_1] != EMPTY and moment.levels == 1:
        return "a level that is not open was written to"
    return moment.wrong


def _line(moment: Moment) -> str:
    return f"levels {moment.levels} {' '.join(word[0] for word in moment.slots):20}  " + " | ".join(
        f"{actor.kind}: {actor.step} {actor.at}" for actor in moment.actors
    )
