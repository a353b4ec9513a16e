"""One key of a host whose copies come from a server: `spec/remote.md`, "Near copies".

The server holds one value and one floor. Whatever changes them, by this host or another, has a
number; a value's number and `born` are the number of its write and of the last clear that its
writer knew. Each change is pushed to the host's listener, in order, unless the connection has died.
One step is one access to the directory, or one command that the server executes. Time is left out:
what a copy may show before its push is heard is the business of V, and `checks/simulation` has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from search import Rule, SearchResult, all_but, search

RULES = {
    "lease-before-read": "a copy is made under a lease that was taken before the read was sent",
    "fill-by-lease": "a copy is made only while that lease stands",
    "void-after-reply": "a writer voids the copy between the reply and the acknowledgement",
    "push-voids-leases": "a push voids the lease, too",
    "void-beside": "a reply that does not become the copy voids what is there (R2)",
    "installs-nothing": "a writer does not install what it wrote (R1)",
    "clear-when-armed": "all copies are cleared when the connection is armed",
    "arm-before-clear": "the connection is armed before they are cleared",
    "floor-after-lease": "floors are looked up after the lease",
    "floor-copy-first": "the copy of a floor is voided before the copies below it",
}

Copy = tuple[str, int, int]  # none; lease of an actor; value with its number, and born
NONE: Copy = ("none", -1, 0)


class Actor(NamedTuple):
    """read: by the directory; direct: without a lease; set, clear: of this host."""

    kind: str
    step: str = "start"
    seen: int = 0  # the host had seen this when it began
    lease: Copy = NONE
    floor: int = -1  # as it knows it; -1: not yet
    value: int = 0  # what it read or wrote
    born: int = 0


class Moment(NamedTuple):
    """The server, the directory, the channel between them, and every actor."""

    actors: tuple[Actor, ...]
    number: int = 1  # of the last change
    value: int = 1  # on the server: the number of its write
    born: int = 0
    floor: int = 0
    copy: Copy = NONE
    floor_copy: Copy = NONE
    channel: tuple[str, ...] = ()
    listener: str = "armed"  # dead, cleared (in the wrong order), arming, armed, flooring
    seen: int = 0  # the highest number that this host was acknowledged, or was shown
    foreign_sets: int = 0  # left
    foreign_clears: int = 0
    losses: int = 0
    evictions: int = 1
    wrong: str = ""


def explore(
    kinds: tuple[str, ...],
    foreign_sets: int = 0,
    foreign_clears: int = 0,
    losses: int = 0,
    without: str = "",
) -> SearchResult:
    """Visits every moment of these operations of the host, and of changes by others."""
    rule = all_but(without)
    first = Moment(
        tuple(Actor(kind) for kind in kinds),
        foreign_sets=foreign_sets,
        foreign_clears=foreign_clears,
        losses=losses,
    )
    return search(first, lambda moment: _steps(moment, rule), _broken, _line)


def _broken(moment: Moment) -> str:
    if moment.wrong:
        return moment.wrong
    quiet = moment.listener == "armed" and not moment.channel
    busy = any(actor.step in ("reply", "voids") for actor in moment.actors)
    if quiet and not busy and moment.copy[0] == "value":
        if moment.copy[1] != moment.value:
            return "a copy is old although every push was heard"
        if moment.copy[2] < moment.floor:
            return "a copy was cleared although every push was heard"
    return ""


def _line(moment: Moment) -> str:
    actors = " ".join(f"{actor.kind}:{actor.step}" for actor in moment.actors)
    return (
        f"server {moment.value} born {moment.born} floor {moment.floor} | copy {moment.copy} "
        f"floor's {moment.floor_copy} | {moment.listener} {moment.channel} | {actors}"
    )


def _pushed(moment: Moment, what: str) -> tuple[str, ...]:
    return moment.channel if moment.listener in ("dead", "cleared") else (*moment.channel, what)


def _written(moment: Moment, born: int) -> Moment:
    number = moment.number + 1
    return moment._replace(number=number, value=number, born=born, channel=_pushed(moment, "key"))


def _cleared(moment: Moment) -> Moment:
    number = moment.number + 1
    return moment._replace(number=number, floor=number, channel=_pushed(moment, "floor"))


def _steps(moment: Moment, rule: Rule) -> Iterator[Moment]:
    yield from _others(moment)
    yield from _listener(moment, rule)
    for place, actor in enumerate(moment.actors):
        for then, after in _acts(moment, place, actor, rule):
            actors = (*moment.actors[:place], after, *moment.actors[place + 1 :])
            yield then._replace(actors=actors)


def _others(moment: Moment) -> Iterator[Moment]:
    if moment.foreign_sets:
        then = _written(moment, moment.floor)
        yield then._replace(foreign_sets=moment.foreign_sets - 1)
    if moment.foreign_clears:
        yield _cleared(moment)._replace(foreign_clears=moment.foreign_clears - 1)
    if moment.evictions and moment.copy[0] == "value":
        yield moment._replace(copy=NONE, evictions=moment.evictions - 1)


def _listener(moment: Moment, rule: Rule) -> Iterator[Moment]:
    if moment.losses and moment.listener == "armed":
        yield moment._replace(listener="dead", channel=(), losses=moment.losses - 1)
    if moment.listener == "dead":
        if not rule("arm-before-clear"):
            yield moment._replace(listener="cleared", copy=NONE, floor_copy=NONE)
        elif rule("clear-when-armed"):
            yield moment._replace(listener="arming")
        else:
            yield moment._replace(listener="armed")
    if moment.listener == "cleared":
        yield moment._replace(listener="armed")
    if moment.listener == "arming":
        # A clear of all copies: nothing stands, and no fill under an older lease succeeds.
        yield moment._replace(listener="armed", copy=NONE, floor_copy=NONE)
    if moment.channel and moment.listener in ("armed", "arming"):
        what, rest = moment.channel[0], moment.channel[1:]
        heard = moment._replace(channel=rest)
        if what == "key":
            yield heard._replace(copy=_voided(moment.copy, rule))
        elif rule("floor-copy-first"):
            yield heard._replace(floor_copy=NONE, channel=("below", *rest))
        else:
            yield heard._replace(copy=NONE, channel=("above", *rest))
        if what == "below":
            yield heard._replace(copy=NONE)
        if what == "above":
            yield heard._replace(floor_copy=NONE)


def _voided(copy: Copy, rule: Rule) -> Copy:
    keeps = copy[0] == "lease" and not rule("push-voids-leases")
    return copy if keeps else NONE


def _acts(moment: Moment, place: int, actor: Actor, rule: Rule) -> Iterator[tuple[Moment, Actor]]:
    match actor.kind:
        case "set":
            yield from _sets(moment, place, actor, rule)
        case "clear":
            yield from _clears(moment, actor, rule)
        case _:
            yield from _reads(moment, place, actor, rule)


def _sets(moment: Moment, place: int, actor: Actor, rule: Rule) -> Iterator[tuple[Moment, Actor]]:
    match actor.step:
        case "start":
            then = _written(moment, moment.floor)
            yield then, actor._replace(step="reply", value=then.value, born=then.born)
        case "reply":
            copy = NONE
            if not rule("void-after-reply"):
                copy = moment.copy
            elif not rule("installs-nothing"):
                copy = ("value", actor.value, actor.born)
            seen = max(moment.seen, actor.value)
            yield moment._replace(copy=copy, seen=seen), actor._replace(step="end")


def _clears(moment: Moment, actor: Actor, rule: Rule) -> Iterator[tuple[Moment, Actor]]:
    match actor.step:
        case "start":
            then = _cleared(moment)
            yield then, actor._replace(step="reply", value=then.number)
        case "reply" if rule("floor-copy-first"):
            yield moment._replace(floor_copy=NONE), actor._replace(step="voids")
        case "reply":
            yield moment._replace(copy=NONE), actor._replace(step="voids")
        case "voids":
            seen = max(moment.seen, actor.value)
            then = moment._replace(seen=seen)
            if rule("floor-copy-first"):
                yield then._replace(copy=NONE), actor._replace(step="end")
            else:
                yield then._replace(floor_copy=NONE), actor._replace(step="end")


def _shown(moment: Moment, actor: Actor, value: int) -> Moment:
    """A value is handed out: not older than what the host had seen when the read began."""
    wrong = "a read went back in time" if value < actor.seen else ""
    return moment._replace(seen=max(moment.seen, value), wrong=wrong)


def _reads(moment: Moment, place: int, actor: Actor, rule: Rule) -> Iterator[tuple[Moment, Actor]]:
    direct = actor.kind == "direct"
    match actor.step:
        case "start":
            begun = actor._replace(seen=moment.seen)
            if not direct and moment.copy[0] == "value":
                # A copy is the host's latest state; nothing else is known of it.
                yield _shown(moment, begun, moment.copy[1]), begun._replace(step="end")
                return
            if rule("floor-after-lease"):
                yield from _leases(moment, place, begun, "floor", rule)
            else:
                yield moment, begun._replace(step="floor")
        case "lease":
            yield from _leases(moment, place, actor, "get", rule)
        case "floor":
            after = "get" if rule("floor-after-lease") else "lease"
            if moment.floor_copy[0] == "value":
                yield moment, actor._replace(step=after, floor=moment.floor_copy[1])
            elif moment.floor_copy == NONE:
                lease: Copy = ("lease", place, 0)
                then = moment._replace(floor_copy=lease)
                yield then, actor._replace(step="ask")
            else:
                yield moment, actor._replace(step="ask")
        case "ask":
            # The server executes it; its reply becomes the copy if the lease still stands.
            yield moment, actor._replace(step="floor reply", floor=moment.floor)
        case "floor reply":
            mine = moment.floor_copy == ("lease", place, 0)
            copy: Copy = ("value", actor.floor, 0) if mine else NONE
            after = "get" if rule("floor-after-lease") else "lease"
            yield moment._replace(floor_copy=copy), actor._replace(step=after)
        case "get":
            yield moment, actor._replace(step="answer", value=moment.value, born=moment.born)
        case "answer":
            yield _answered(moment, place, actor, rule), actor._replace(step="end")


def _leases(
    moment: Moment, place: int, actor: Actor, after: str, rule: Rule
) -> Iterator[tuple[Moment, Actor]]:
    free = moment.copy == NONE
    if actor.kind == "direct" or not free or not rule("lease-before-read"):
        yield moment, actor._replace(step=after)
        return
    lease: Copy = ("lease", place, moment.number)
    yield moment._replace(copy=lease), actor._replace(step=after, lease=lease)


def _answered(moment: Moment, place: int, actor: Actor, rule: Rule) -> Moment:
    stands = actor.lease != NONE and moment.copy == actor.lease
    if not rule("lease-before-read") and actor.kind == "read":
        stands = moment.copy == NONE
    if not rule("fill-by-lease") and actor.lease != NONE:
        stands = True
    voided = NONE if rule("void-beside") else moment.copy
    if actor.born < actor.floor:
        return moment._replace(copy=NONE if stands else voided)
    copy: Copy = ("value", actor.value, actor.born) if stands else voided
    return _shown(moment._replace(copy=copy), actor, actor.value)
