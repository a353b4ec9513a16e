"""The life of the blocks of a large value: `spec/host.md`, "Large values".

A value takes two blocks, one for its head and one for a chunk. Only the head has a word; it lists
the chunk's block with its sequence number. One step is one access to shared memory, as in
`operations.py`. The bytes of a block are one cell, which says whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from search import Rule, SearchResult, all_but, search

RULES = {
    "tail-before-word": "the tails cover the blocks before a word points to the head",
    "held-until-published": "a writer holds the blocks until its value is published",
    "search-before-free": "a block is empty only once no head lists it",
    "touch-from-its-word": "a touch is published only from the word whose head it read",
    "look-again": "a reader looks at the word again after its copy",
    "whole-or-nothing": "a writer that gets no second block gives the first one back",
}


class Block(NamedTuple):
    """A block, as the others see it."""

    state: str = "free"  # free sealed, or "appending 0", "cleaning 1"
    number: int = 0
    covered: bool = False  # its tail
    # "chunk 3", or "head 3 > 1.7": of value 3, whose chunk is in block 1 under the number 7
    bytes: str = ""


class Actor(NamedTuple):
    """A writer, a touch, a remover, a cleaner or a reader."""

    kind: str
    step: str = "start"
    held: tuple[int, ...] = ()
    word: tuple[int, int] = (0, -1)  # the word that it saw: its generation and the head's block
    saw: str = ""


class Moment(NamedTuple):
    """The blocks, the word, and every actor's position."""

    actors: tuple[Actor, ...]
    blocks: tuple[Block, ...]
    word: tuple[int, int] = (0, -1)  # generation, block of the head; -1 for none
    number: int = 0  # the last sequence number
    values: int = 0  # written so far
    dead: int = 0
    kills: int = 0
    wrong: str = ""


def explore(kinds: tuple[str, ...], blocks: int, kills: int = 0, without: str = "") -> SearchResult:
    """Visits every moment, breadth first: the story of what went wrong is a shortest one."""

    rule = all_but(without)
    first = Moment(tuple(Actor(kind) for kind in kinds), (Block(),) * blocks, kills=kills)

    def broken(moment: Moment) -> str:
        return moment.wrong or _broken(moment)

    return search(first, lambda moment: _next(moment, rule), broken, _line, _lost)


def _next(moment: Moment, rule: Rule) -> Iterator[Moment]:
    steps = {"write": _write, "touch": _touch, "remove": _remove, "clean": _clean, "read": _read}
    for me, actor in enumerate(moment.actors):
        if actor.step in ("end", "killed"):
            continue
        yield from steps[actor.kind](moment, me, rule)
        if moment.kills and actor.step != "start":
            killed = _goes(moment, me, step="killed", held=())
            yield killed._replace(kills=moment.kills - 1, dead=moment.dead | 1 << me)


def _write(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    actor = moment.actors[me]
    match actor.step:
        case "start" if len(actor.held) == 2:
            yield _goes(moment, me, step="chunk")
        case "start":
            yield from _takes(moment, me, rule)
        case "chunk":
            moment = moment._replace(values=moment.values + 1)
            moment = _fills(moment, actor.held[1], f"chunk {moment.values}")
            yield _goes(moment, me, step="head", saw=str(moment.values))
        case "head":
            chunk = actor.held[1]
            listed = f"{chunk}.{moment.blocks[chunk].number}"
            moment = _fills(moment, actor.held[0], f"head {actor.saw} > {listed}")
            yield _goes(moment, me, step="tails" if rule("tail-before-word") else "publish")
        case "tails":
            then = "publish" if rule("tail-before-word") else "leave"
            yield _goes(_covers(moment, actor.held), me, step=then)
        case "publish" if not rule("held-until-published") and actor.word == (0, -1):
            for block in actor.held:
                moment = _state(moment, block, "sealed")
            yield _goes(moment, me, word=(-1, -1))
        case "publish":
            # Whatever stands there: it is replaced.
            then = "leave" if rule("tail-before-word") else "tails"
            yield _goes(_points(moment, actor.held[0]), me, step=then)
        case "leave":
            yield _leaves(moment, me)


def _touch(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    """Writes another head, which lists the same chunk."""
    actor = moment.actors[me]
    match actor.step:
        case "start" if moment.word[1] < 0:
            yield _goes(moment, me, step="end")
        case "start":
            yield _goes(moment, me, step="read", word=moment.word)
        case "read":
            head = moment.blocks[actor.word[1]].bytes
            # What it read is the value's if the word stands now.
            stands = moment.word == actor.word and head.startswith("head")
            yield _goes(moment, me, step="take" if stands else "end", saw=head)
        case "take" if actor.held:
            yield _goes(_fills(moment, actor.held[0], actor.saw), me, step="tails")
        case "take":
            yield from _takes(moment, me, rule)
        case "tails":
            yield _goes(_covers(moment, actor.held), me, step="publish")
        case "publish":
            if moment.word == actor.word or not rule("touch-from-its-word"):
                moment = _points(moment, actor.held[0])
            yield _goes(moment, me, step="leave")
        case "leave":
            yield _leaves(moment, me)


def _remove(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    yield _goes(_points(moment, -1), me, step="end")


def _clean(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    actor = moment.actors[me]
    match actor.step:
        case "start":
            yield _goes(moment, me, step="end")  # there is enough room
            for at, block in enumerate(moment.blocks):
                left = block.state == "sealed" or (block.covered and _is_left(moment, block))
                if left:
                    taken = _state(moment, at, f"cleaning {me}")
                    yield _goes(taken, me, step="search", held=(at,))
        case "search" if not rule("search-before-free"):
            yield _goes(moment, me, step="free")
        case "search":
            yield _goes(moment, me, step="list", word=moment.word)
        case "list" if actor.word[1] < 0:
            yield _goes(moment, me, step="free")
        case "list":
            at = actor.held[0]
            head = moment.blocks[actor.word[1]].bytes
            listed = head.partition(" > ")[2] == f"{at}.{moment.blocks[at].number}"
            mine = actor.word[1] == at or listed
            yield _goes(moment, me, step="again", saw="mine" if mine else "")
        case "again" if moment.word != actor.word:
            yield _goes(moment, me, step="search")
        case "again" if actor.saw:
            yield _leaves(moment, me)  # it is kept
            yield _goes(moment, me, step="evict")
        case "again":
            yield _goes(moment, me, step="free")
        case "evict" if moment.word == actor.word:
            yield _goes(_points(moment, -1), me, step="search")
        case "evict":
            yield _goes(moment, me, step="search")
        case "free":
            at = actor.held[0]
            block = moment.blocks[at]._replace(covered=False)
            yield _goes(_state(_puts(moment, at, block), at, "free"), me, step="end", held=())


def _read(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    actor = moment.actors[me]
    match actor.step:
        case "start" if moment.word[1] < 0:
            yield _goes(moment, me, step="end")
        case "start":
            yield _goes(moment, me, step="list", word=moment.word)
        case "list":
            head = moment.blocks[actor.word[1]].bytes
            yield _goes(moment, me, step="number" if " > " in head else "odd", saw=head)
        case "number":
            at, number = (int(part) for part in actor.saw.partition(" > ")[2].split("."))
            agrees = moment.blocks[at].number == number
            yield _goes(moment, me, step="copy" if agrees else "odd")
        case "copy":
            value, _, listed = actor.saw.partition(" > ")
            block = moment.blocks[int(listed.partition(".")[0])]
            is_whole = block.bytes == f"chunk {value.removeprefix('head ')}"
            yield _goes(moment, me, step="again", saw="whole" if is_whole else "torn")
        case "odd" if moment.word == actor.word:
            yield moment._replace(wrong="a word stands, and its value is not whole")
        case "again" if moment.word == actor.word or not rule("look-again"):
            wrong = "" if actor.saw == "whole" else "a reader was served a mix"
            yield _goes(moment, me, step="end")._replace(wrong=wrong)
        case "again" | "odd":
            yield _goes(moment, me, step="start")


def _takes(moment: Moment, me: int, rule: Rule) -> Iterator[Moment]:
    """Takes an empty block; without one it gives up, with all that it has."""
    actor = moment.actors[me]
    empty = [
        at
        for at, block in enumerate(moment.blocks)
        if block.state == "free" or (not block.covered and _is_left(moment, block))
    ]
    if not empty:
        if rule("whole-or-nothing"):
            for at in actor.held:
                moment = _state(moment, at, "free")
        yield _goes(moment, me, step="end", held=())
        return
    number = moment.number + 1
    block = moment.blocks[empty[0]]
    taken = block._replace(state=f"appending {me}", number=number, covered=False)
    moment = _puts(moment, empty[0], taken)._replace(number=number)
    yield _goes(moment, me, held=(*actor.held, empty[0]))


def _is_left(moment: Moment, block: Block) -> bool:
    _, _, holder = block.state.partition(" ")
    return bool(holder) and bool(moment.dead >> int(holder) & 1)


def _fills(moment: Moment, at: int, what: str) -> Moment:
    return _puts(moment, at, moment.blocks[at]._replace(bytes=what))


def _covers(moment: Moment, held: tuple[int, ...]) -> Moment:
    for at in held:
        moment = _puts(moment, at, moment.blocks[at]._replace(covered=True))
    return moment


def _state(moment: Moment, at: int, state: str) -> Moment:
    return _puts(moment, at, moment.blocks[at]._replace(state=state))


def _puts(moment: Moment, at: int, block: Block) -> Moment:
    return moment._replace(blocks=(*moment.blocks[:at], block, *moment.blocks[at + 1 :]))


def _points(moment: Moment, head: int) -> Moment:
    return moment._replace(word=(moment.word[0] + 1, head))


def _leaves(moment: Moment, me: int) -> Moment:
    for at in moment.actors[me].held:
        moment = _state(moment, at, "sealed")
    return _goes(moment, me, step="end", held=())


def _goes(moment: Moment, me: int, **changes: object) -> Moment:
    actor = moment.actors[me]._replace(**changes)  # type: ignore[arg-type]
    return moment._replace(actors=(*moment.actors[:me], actor, *moment.actors[me + 1 :]))


def _broken(moment: Moment) -> str:
    if moment.word[1] < 0:
        return ""
    head = moment.blocks[moment.word[1]]
    value, _, listed = head.bytes.partition(" > ")
    if not listed:
        return "the word points to what is no head"
    at, number = (int(part) for part in listed.split("."))
    chunk = moment.blocks[at]
    if chunk.number != number or chunk.bytes != f"chunk {value.removeprefix('head ')}":
        return "the word's value is not whole"
    if not (head.covered and chunk.covered) and "free" in (head.state, chunk.state):
        return "a block of the word's value counts as empty"
    return ""


def _lost(moment: Moment) -> str:
    """At the end every block is empty, or sealed, or of a holder that is known to be dead."""
    for block in moment.blocks:
        if block.state not in ("free", "sealed") and not _is_left(moment, block):
            return f"a block is held for ever: {block.state}"
    return ""


def _line(moment: Moment) -> str:
    return (
        f"word {moment.word} "
        + " ".join(
            f"[{b.state} {b.number}{'+' if b.covered else ''} {b.bytes}]" for b in moment.blocks
        )
        + "  "
        + " | ".join(f"{actor.kind}: {actor.step}" for actor in moment.actors)
    )
