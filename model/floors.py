"""The life of a floor's cell: raised, no longer needed, and given to another namespace.

`spec/host.md`, "Floors". One key of the namespace A, one slot for it, and one cell, which the
namespace B wants as well. A survey removes what lies below the floors, and then the cell is free.
One step is one access to shared memory, as in `operations.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from search import Rule, SearchResult, all_but, search

RULES = {
    "born-while-held": "a put notes the count of clears while it holds its block, not before",
    "large-born-last": "the writer of a large value does so after it said that it wrote all bytes",
    "announce-first": "a survey announces its target before it waits for the writers",
    "wait-for-writers": "a survey waits for the writers that held a block when it was announced",
    "unlink": "a survey removes what lies below a floor",
    "end-last": "floors count as ended only when the survey has seen every slot",
    "fill-looks-at-target": "a load that began below an announced target stores nothing",
    "clear-looks-at-target": "a clear whose number a survey has overtaken takes another",
    "floor-before-word": "a reader looks up the floor before its second look at the word",
    "reuse-the-ended": "a cell is given to another namespace only once its floor has ended",
    "both-halves": "a floor counts only for the name in both halves of its cell",
}

# The value that was there at first.
FIRST = 6
NOTHING = (-1, 0, 0)


class Actor(NamedTuple):
    """One operation in progress."""

    kind: str
    step: str = "start"
    number: int = 0  # its count of clears: born, the new floor, or the survey's target
    first: tuple[int, str] = (0, "")  # the halves of the cell as it saw them
    second: tuple[int, str] = (0, "")
    floor: int = 0
    word: tuple[int, int, int] = NOTHING
    epoch: int = 0
    # When it began, a bit for each actor:
    over: int = 0  # values that had been made; for a load: when its loader began
    gone: int = 0  # operations that had been acknowledged


class Moment(NamedTuple):
    """The words of shared memory, and every actor's position."""

    actors: tuple[Actor, ...]
    clears: int = 0
    target: int = 0  # announced by a survey
    ended_floor: int = 0  # floors up to this one have ended
    epoch: int = 0
    first: tuple[int, str] = (0, "")  # a half: its floor, and a half of the name
    second: tuple[int, str] = (0, "")
    group: int = 0  # the floor of A's group
    word: tuple[int, int, int] = NOTHING  # whose value, its born, changes of the slot
    held: int = 0  # actors that hold a block
    writes: int = 0  # those of them that write a large value: a survey does not wait for these
    ended: int = 1 << FIRST
    made: int = 1 << FIRST
    hidden: int = 0  # values that a read has missed after all clears were over
    kills: int = 0


def explore(kinds: tuple[str, ...], there: bool, kills: int, without: str = "") -> SearchResult:
    """Visits every moment, breadth first. `there`: the key has a value at first."""

    rule = all_but(without)
    word = (FIRST, 0, 0) if there else NOTHING
    first = Moment(tuple(Actor(kind) for kind in kinds), word=word, kills=kills)

    def steps(moment: Moment) -> Iterator[Moment]:
        return (_judged(then)[0] for then in _next(moment, rule))

    return search(first, steps, lambda moment: _judged(moment)[1], _line)


def _next(moment: Moment, rule: Rule) -> Iterator[Moment]:
    for me, actor in enumerate(moment.actors):
        if actor.step in ("end", "killed", "hit", "missed"):
            continue
        yield OPERATIONS[actor.kind](moment, me, rule)
        if moment.kills and actor.step != "start" and actor.kind != "read":
            # A dead holder of a block is not waited for.
            killed = _finished(moment, me, "killed", Actor(""))
            yield killed._replace(kills=moment.kills - 1, held=moment.held & ~(1 << me))


def _put(moment: Moment, me: int, rule: Rule) -> Moment:
    actor = moment.actors[me]
    match actor.step:
        case "start":
            then = "hold" if rule("born-while-held") else "born"
            return _goes(moment, me, step=then, over=moment.made, gone=moment.ended)
        case "hold":
            then = "born" if rule("born-while-held") else "look"
            return _goes(moment._replace(held=moment.held | 1 << me), me, step=then)
        case "born":
            then = "look" if rule("born-while-held") else "hold"
            return _goes(moment, me, step=then, number=moment.clears)
        case "look" if moment.word[0] >= 0 and moment.word[1] > actor.number:
            return _goes(moment, me, step="leave")
        case "look":
            return _goes(moment, me, step="publish", word=moment.word)
        case "publish" if moment.word == actor.word:
            return _goes(_stores(moment, me), me, step="leave")
        case "publish":
            return _goes(moment, me, step="look")
        case _:
            return _ended(moment._replace(held=moment.held & ~(1 << me)), me)


def _put_large(moment: Moment, me: int, rule: Rule) -> Moment:
    """Its blocks count as dead once all bytes are written. Then it is as any put."""
    match moment.actors[me].step:
        case "start":
            return _goes(moment, me, step="hold", over=moment.made, gone=moment.ended)
        case "hold":
            moment = moment._replace(held=moment.held | 1 << me, writes=moment.writes | 1 << me)
            return _goes(moment, me, step="dead" if rule("large-born-last") else "born")
        case "born":
            then = "look" if rule("large-born-last") else "dead"
            return _goes(moment, me, step=then, number=moment.clears)
        case "dead":
            moment = moment._replace(writes=moment.writes & ~(1 << me))
            return _goes(moment, me, step="born" if rule("large-born-last") else "look")
        case _:
            return _put(moment, me, rule)


def _load(moment: Moment, me: int, rule: Rule) -> Moment:
    actor = moment.actors[me]
    match actor.step:
        case "start" if moment.word[0] >= 0:
            return _left(moment, me)
        case "start":
            return _goes(moment, me, step="born", word=moment.word)
        case "born":
            return _goes(moment, me, step="load", number=moment.clears, gone=moment.ended)
        case "load":
            loading = _goes(moment, me, step="first", over=moment.made)
            return loading._replace(made=loading.made | 1 << me)
        case "first" | "second" | "group":
            return _looks_up(moment, me, "hold", rule)
        case "hold" if actor.number < actor.floor:
            return _left(moment, me)
        case "hold":
            return _goes(moment._replace(held=moment.held | 1 << me), me, step="target")
        case "target" if actor.number < moment.target and rule("fill-looks-at-target"):
            return _left(moment._replace(held=moment.held & ~(1 << me)), me)
        case "target":
            return _goes(moment, me, step="publish")
        case "publish" if moment.word == actor.word:
            return _goes(_stores(moment, me), me, step="leave")
        case "publish":
            return _left(moment._replace(held=moment.held & ~(1 << me)), me)
        case _:
            return _ended(moment._replace(held=moment.held & ~(1 << me)), me)


def _clear(moment: Moment, me: int, rule: Rule) -> Moment:
    actor = moment.actors[me]
    name, number = actor.kind[-1], actor.number
    match actor.step:
        case "start":
            return _goes(moment, me, step="count", over=moment.made, gone=moment.ended)
        case "count":
            number = moment.clears + 1
            return _goes(moment._replace(clears=number), me, step="ended", number=number)
        case "ended":
            return _goes(moment, me, step="first", floor=moment.ended_floor)
        case "first":
            return _goes(moment, me, step="second", first=moment.first)
        case "second":
            saw = moment.second
            mine = actor.first[1] == name and saw[1] == name
            ended = max(actor.first[0], saw[0]) <= actor.floor or not rule("reuse-the-ended")
            return _goes(moment, me, step="raise first" if mine or ended else "group", second=saw)
        case "raise first" | "raise second" as step:
            half = step.removeprefix("raise ")
            saw = actor.first if half == "first" else actor.second
            if (moment.first if half == "first" else moment.second) != saw:
                return _goes(moment, me, step="ended")
            raised = (max(number, saw[0]) if saw[1] == name else number, name)
            if half == "first":
                return _goes(moment._replace(first=raised), me, step="raise second")
            return _goes(moment._replace(second=raised), me, step="target")
        case "group":
            group = max(moment.group, number) if name == "A" else moment.group
            return _goes(moment._replace(group=group), me, step="target")
        case "target":
            again = number <= moment.target and rule("clear-looks-at-target")
            return _goes(moment, me, step="count" if again else "epoch")
        case _:
            moment = moment._replace(epoch=moment.epoch + 1)
            return _ended(moment, me) if name == "A" else _left(moment, me)


def _reuse(moment: Moment, me: int, rule: Rule) -> Moment:
    """A clear of B as a single step, beside more operations than its steps allow."""
    ended = max(moment.first[0], moment.second[0]) <= moment.ended_floor
    moment = moment._replace(clears=moment.clears + 1)
    if ended or not rule("reuse-the-ended"):
        half = (moment.clears, "B")
        moment = moment._replace(first=half, second=half)
    return _left(moment._replace(epoch=moment.epoch + 1), me)


def _survey(moment: Moment, me: int, rule: Rule) -> Moment:
    actor = moment.actors[me]
    announce_first = rule("announce-first")
    match actor.step:
        case "start":
            then = "announce" if announce_first else "wait"
            return _goes(moment, me, step=then, number=moment.clears)
        case "announce":
            then = "wait" if announce_first else "look"
            moment = moment._replace(target=max(moment.target, actor.number))
            if not rule("end-last"):
                moment = moment._replace(ended_floor=max(moment.ended_floor, actor.number))
            return _goes(moment, me, step=then)
        case "wait" if moment.held & ~moment.writes and rule("wait-for-writers"):
            return moment
        case "wait":
            return _goes(moment, me, step="look" if announce_first else "announce")
        case "look":
            return _goes(moment, me, step="first", word=moment.word)
        case "first" | "second" | "group":
            return _looks_up(moment, me, "unlink", rule)
        case "unlink" if moment.word != actor.word:
            return _goes(moment, me, step="look")
        case "unlink":
            origin, born, changes = actor.word
            if origin >= 0 and born < actor.floor and rule("unlink"):
                moment = moment._replace(word=(-1, 0, changes + 1))
            return _goes(moment, me, step="commit")
        case _:
            ended = max(moment.ended_floor, actor.number)
            return _left(moment._replace(ended_floor=ended), me)


def _read(moment: Moment, me: int, rule: Rule) -> Moment:
    """Its floor may have been looked up long before it begins, at an epoch that still stands."""
    actor = moment.actors[me]
    floor_first = rule("floor-before-word")
    match actor.step:
        case "start" | "again":
            return _goes(moment, me, step="first" if floor_first else "begin", epoch=moment.epoch)
        case "first" | "second" | "group":
            return _looks_up(moment, me, "begin" if floor_first else "judge", rule)
        case "begin":
            over = actor.over or moment.ended
            return _goes(moment, me, step="word", over=over)
        case "word" if moment.word[0] < 0:
            return _goes(moment, me, step="missed", word=moment.word)
        case "word" if moment.epoch != actor.epoch:
            return _goes(moment, me, step="again")
        case "word":
            return _goes(moment, me, step="judge" if floor_first else "first", word=moment.word)
        case _:
            return _goes(moment, me, step="hit" if actor.word[1] >= actor.floor else "missed")


OPERATIONS: dict[str, Callable[[Moment, int, Rule], Moment]] = {
    "put": _put,
    "put large": _put_large,
    "load": _load,
    "clear A": _clear,
    "clear B": _clear,
    "reuse": _reuse,
    "survey": _survey,
    "read": _read,
}


def _looks_up(moment: Moment, me: int, then: str, rule: Rule) -> Moment:
    """The floor of A, half by half."""
    actor = moment.actors[me]
    match actor.step:
        case "first":
            return _goes(moment, me, step="second", first=moment.first)
        case "second":
            return _goes(moment, me, step="group", second=moment.second)
        case _:
            halves = (actor.first, actor.second)
            return _goes(moment, me, step=then, floor=max(_floor(halves, rule), moment.group))


def _floor(halves: tuple[tuple[int, str], tuple[int, str]], rule: Rule) -> int:
    first, second = halves
    if second[1] == "A" and (first[1] == "A" or not rule("both-halves")):
        return min(first[0], second[0])
    return 0 if rule("both-halves") else max(first[0], second[0])


def _stores(moment: Moment, me: int) -> Moment:
    return moment._replace(word=(me, moment.actors[me].number, moment.word[2] + 1))


def _goes(moment: Moment, me: int, **changes: object) -> Moment:
    actor = moment.actors[me]._replace(**changes)  # type: ignore[arg-type]
    return moment._replace(actors=(*moment.actors[:me], actor, *moment.actors[me + 1 :]))


def _left(moment: Moment, me: int) -> Moment:
    """It is over without a change."""
    return _finished(moment, me, "end", Actor(""))


def _ended(moment: Moment, me: int) -> Moment:
    """It is acknowledged."""
    moment = moment._replace(ended=moment.ended | 1 << me, made=moment.made | 1 << me)
    return _finished(moment, me, "end", moment.actors[me])


def _finished(moment: Moment, me: int, step: str, known: Actor) -> Moment:
    """What an operation knew is forgotten with it, so that fewer moments differ."""
    actor = Actor(moment.actors[me].kind, step, over=known.over, gone=known.gone)
    return moment._replace(actors=(*moment.actors[:me], actor, *moment.actors[me + 1 :]))


def _judged(moment: Moment) -> tuple[Moment, str]:
    """The moment with what can be seen in it noted, and what is wrong with it."""
    origin, born, _ = moment.word
    floor = max(_floor((moment.first, moment.second), lambda _: True), moment.group)
    clears = [actor for actor in moment.actors if actor.kind == "clear A"]
    if origin >= 0 and born >= floor:
        if moment.hidden >> origin & 1:
            return moment, "a value comes back"
        if _superseded(moment, moment.ended, origin):
            return moment, "a value can be read that a clear or a later value superseded"
    elif origin >= 0 and all(actor.step in ("start", "end") for actor in clears):
        moment = moment._replace(hidden=moment.hidden | 1 << origin)
    for actor in moment.actors:
        if actor.step == "hit" and _superseded(moment, actor.over, actor.word[0]):
            return moment, "a read was served a value that was superseded before it began"
        if actor.step == "missed" and _lasting(moment, actor.over):
            return moment, "a read missed a value that was there all the time"
    return moment, ""


def _superseded(moment: Moment, acknowledged: int, origin: int) -> bool:
    return any(
        acknowledged >> number & 1 and actor.over >> origin & 1 and actor.kind != "read"
        for number, actor in enumerate(moment.actors)
    )


def _lasting(moment: Moment, acknowledged: int) -> bool:
    """Of the acknowledged values there is one that no clear can have removed."""
    begun = sum(
        1 << number
        for number, actor in enumerate(moment.actors)
        if actor.kind == "clear A" and actor.step != "start"
    )
    return any(
        acknowledged >> number & 1
        and actor.kind in ("put", "put large", "load")
        and not begun & ~actor.gone
        for number, actor in enumerate(moment.actors)
    )


def _line(moment: Moment) -> str:
    return (
        f"cell {moment.first} {moment.second} word {moment.word} clears {moment.clears}"
        f" target {moment.target} ended {moment.ended_floor}  "
        + " | ".join(f"{actor.kind}: {actor.step}" for actor in moment.actors)
    )
