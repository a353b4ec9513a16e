"""The life of one block: who holds it, and when its bytes may be overwritten.

`spec/host.md`, "Blocks". A writer holds the block while it appends a record and publishes it; a
cleaner, for a step. A holder that was killed is replaced. A handle that closes waits for its own
writers first. One step is one access to shared memory, as in `operations.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from search import Rule, SearchResult, all_but, search

ROOM = 2  # records that the block holds

RULES = {
    "rob-the-dead-only": "only a holder that is dead is replaced",
    "look-closed-after": "a holder looks whether its handle is closed after it took the block",
    "close-waits": "a handle that closes counts as dead only once it holds no block",
    "tail-before-word": "the tail covers a record before a word points to it",
    "unlink-before-free": "a block is empty only once no word points into it",
    "held-until-published": "a writer holds the block until its record is published",
    "closed-gives-back-its-own": "a closed handle gives a block back only if it still holds it",
    "walk-before-reuse": "what an earlier cleaner left is walked on, not taken as empty",
}


class Actor(NamedTuple):
    """A writer, a cleaner, or the closing of another actor's handle."""

    kind: str
    step: str = "start"
    saw: str = ""  # the block's state when it looked
    at: int = 0  # the record that it writes, or walks


class Moment(NamedTuple):
    """The block, its words, and every actor's position."""

    actors: tuple[Actor, ...]
    block: str = "free"  # free open sealed partly, or "appending 0", "cleaning 1"
    tail: int = 0
    cleaned: int = 0
    # For each place: the number of the record there (actor and life), negative while half-written.
    bytes: tuple[int, ...] = (0,) * ROOM
    # For each place: the record that a word points to; 0 for none.
    words: tuple[int, ...] = (0,) * ROOM
    written: int = 0  # records begun so far
    closed: int = 0  # a bit for each handle
    dead: int = 0
    kills: int = 0


def explore(kinds: tuple[str, ...], kills: int = 0, without: str = "") -> SearchResult:
    """Visits every moment, breadth first: the story of what went wrong is a shortest one."""

    rule = all_but(without)
    first = Moment(tuple(Actor(kind) for kind in kinds), kills=kills)
    return search(first, lambda moment: _next(moment, rule), _broken, _line)


def _next(moment: Moment, rule: Rule) -> Iterator[Moment]:
    steps = {"write": _write, "clean": _clean}
    for me, actor in enumerate(moment.actors):
        if actor.step == "end" or (moment.dead >> me & 1 and actor.step == "killed"):
            continue
        if actor.kind.startswith("close"):
            yield from _close(moment, me, int(actor.kind.split()[1]), rule)
        else:
            yield from steps[actor.kind](moment, me, rule)
        if moment.kills and actor.step != "start" and not actor.kind.startswith("close"):
            killed = _goes(moment, me, step="killed")
            yield killed._replace(kills=moment.kills - 1, dead=moment.dead | 1 << me)


def _write(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    actor = moment.actors[me]
    match actor.step:
        case "start" if moment.closed >> me & 1:
            yield _goes(moment, me, step="end")
        case "start":
            yield _goes(moment, me, step="take", saw=moment.block)
        case "take":
            if _may_hold(moment, actor.saw, ("free", "open"), "appending", rule):
                yield _took(moment, me, f"appending {me}", rule)
            else:
                yield _goes(moment, me, step="end")  # it goes to another block
        case "closed?":
            yield from _unless_closed(moment, me, "tail", rule)
        case "tail" if actor.saw == "free" and moment.tail and rule("walk-before-reuse"):
            yield _leaves(moment, me, "open")
        case "tail" if moment.tail == ROOM:
            yield _leaves(moment, me, "sealed")
        case "tail":
            at = 0 if actor.saw == "free" else moment.tail
            moment = moment._replace(written=moment.written + 1)
            yield _goes(_puts(moment, at, -moment.written), me, step="whole", at=at)
        case "whole":
            step = "cover" if rule("tail-before-word") else "publish"
            yield _goes(_puts(moment, actor.at, abs(moment.bytes[actor.at])), me, step=step)
        case "cover":
            then = "publish" if rule("tail-before-word") else "leave"
            yield _goes(moment._replace(tail=actor.at + 1), me, step=then)
        case "publish" if not rule("held-until-published") and moment.block == f"appending {me}":
            yield moment._replace(block="open")
        case "publish":
            # Whatever stands there by now: a word says where its record is.
            record = moment.bytes[actor.at] if rule("held-until-published") else moment.written
            then = "leave" if rule("tail-before-word") else "cover"
            yield _goes(_points(moment, actor.at, record), me, step=then)
        case "leave" if moment.block == f"appending {me}":
            yield _leaves(moment, me, "open")
        case "leave":
            yield _goes(moment, me, step="end")


def _clean(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    actor = moment.actors[me]
    match actor.step:
        case "start" if moment.closed >> me & 1:
            yield _goes(moment, me, step="end")
        case "start":
            yield _goes(moment, me, step="take", saw=moment.block)
        case "take":
            idle = ("open", "sealed", "partly")
            dead = "appending" if actor.saw.startswith("appending") else "cleaning"
            if _may_hold(moment, actor.saw, idle, dead, rule):
                yield _took(moment, me, f"cleaning {me}", rule)
            else:
                yield _goes(moment, me, step="end")
        case "closed?":
            yield from _unless_closed(moment, me, "walk", rule)
        case "walk" if moment.cleaned < moment.tail and rule("unlink-before-free"):
            at = moment.cleaned
            yield _goes(_points(moment, at, 0)._replace(cleaned=at + 1), me, step="walked")
        case "walk":
            yield _goes(moment._replace(tail=0, cleaned=0), me, step="free")
        case "walked":
            yield _goes(moment, me, step="walk")
            left = "partly" if rule("walk-before-reuse") else "free"
            yield _leaves(moment, me, left)  # the step's budget is used up
        case "free":
            yield _leaves(moment, me, "free")


def _close(moment: Moment, me: int, handle: int, rule: Rule) -> Iterator[Moment]:
    match moment.actors[me].step:
        case "start":
            closed = moment.closed | 1 << handle
            yield _goes(moment._replace(closed=closed), me, step="wait")
        case "wait":
            holds = moment.block in (f"appending {handle}", f"cleaning {handle}")
            if not (holds and rule("close-waits")):
                yield _goes(moment._replace(dead=moment.dead | 1 << handle), me, step="end")


def _may_hold(moment: Moment, saw: str, idle: tuple[str, ...], held: str, rule: Rule) -> bool:
    if moment.block != saw:
        return False
    state, _, holder = saw.partition(" ")
    if not holder:
        return state in idle
    return state == held and (bool(moment.dead >> int(holder) & 1) or not rule("rob-the-dead-only"))


def _took(moment: Moment, me: int, held: str, rule: Rule) -> Moment:
    moment = moment._replace(block=held)
    if rule("look-closed-after"):
        return _goes(moment, me, step="closed?")
    return _goes(moment, me, step="tail" if held.startswith("appending") else "walk")


def _unless_closed(moment: Moment, me: int, then: str, rule: Rule) -> Iterator[Moment]:
    if not moment.closed >> me & 1:
        yield _goes(moment, me, step=then)
    elif not moment.block.endswith(f" {me}") and rule("closed-gives-back-its-own"):
        # The handle counted as dead, and another participant has replaced this holder.
        yield _goes(moment, me, step="end")
    else:
        saw = moment.actors[me].saw.partition(" ")[0]
        idle = {"appending": "open", "cleaning": "partly"}.get(saw, saw)
        yield _leaves(moment, me, idle)


def _leaves(moment: Moment, me: int, state: str) -> Moment:
    """A store: whoever holds the block by now."""
    return _goes(moment._replace(block=state), me, step="end")


def _goes(moment: Moment, me: int, **changes: object) -> Moment:
    actor = moment.actors[me]._replace(**changes)  # type: ignore[arg-type]
    return moment._replace(actors=(*moment.actors[:me], actor, *moment.actors[me + 1 :]))


def _puts(moment: Moment, at: int, record: int) -> Moment:
    return moment._replace(bytes=(*moment.bytes[:at], record, *moment.bytes[at + 1 :]))


def _points(moment: Moment, at: int, record: int) -> Moment:
    return moment._replace(words=(*moment.words[:at], record, *moment.words[at + 1 :]))


def _broken(moment: Moment) -> str:
    for at, record in enumerate(moment.words):
        if record and moment.bytes[at] != record:
            return f"a word points to record {record}, and other bytes stand there"
        if record and at >= moment.tail and moment.block in ("free", "open", "sealed", "partly"):
            return f"a word points to record {record}, which no cleaner would find"
    return ""


def _line(moment: Moment) -> str:
    return (
        f"{moment.block:14} tail {moment.tail} bytes {moment.bytes} words {moment.words}  "
        + " | ".join(f"{actor.kind}: {actor.step}" for actor in moment.actors)
    )
