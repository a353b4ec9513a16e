"""The model's state at one moment: the slots of one key, and every actor's position."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

SLOTS = 3


class Kind(Enum):
    """What a slot's word says, as far as one key is concerned."""

    EMPTY = "."
    OTHER = "other"  # a value of another key
    LEASE = "lease"
    VALUE = "value"

    # By identity: the default hash of an enum's member hashes its name, which costs a third of the
    # run.
    __hash__ = object.__hash__


class Word(NamedTuple):
    """A slot's word. There is no generation in it: see `Seen`."""

    kind: Kind
    origin: int = -1  # the actor that wrote it
    born: int = 0  # clears when a VALUE's making began


EMPTY = Word(Kind.EMPTY)
OTHER = Word(Kind.OTHER)


class Seen(NamedTuple):
    """A word that an actor has seen, and will use as the old one of a compare-and-swap.

    Every change of a slot makes a word that never stood there before (its generation counts). So
    all that matters about an earlier look at a word is whether the word still stands.
    """

    slot: int
    stands: bool = True


class Actor(NamedTuple):
    """One operation in progress."""

    step: str = "start"
    at: int = 0  # the slot that a scan looks at next
    mine: Seen | None = None  # the word to build on: an empty one, its own lease, another's
    other: Seen | None = None  # a word met on the way, to be emptied
    born: int = 0
    # The state when the operation began, one bit per actor:
    over: int = 0  # values that had been made; for a load: when its loader began
    gone: int = 0  # operations that had been acknowledged


class State(NamedTuple):
    """One moment. `ended` and `made` have one bit per actor."""

    slots: tuple[Word, ...]
    actors: tuple[Actor, ...]
    clears: int = 0
    floor: int = 0  # what a reader looks up
    cached_floor: int = 0  # what a reader remembers until EPOCH moves
    ended: int = 0  # acknowledged
    made: int = 0  # values made: puts that ended, loads that began
    evicted: bool = False  # the key was evicted: a miss proves nothing
    evictions: int = 0  # how many may still happen, here and below
    neighbours_leave: int = 0
    moves: int = 0
    kills: int = 0

    def with_actor(self, number: int, actor: Actor) -> State:
        """The same moment, with one actor somewhere else."""
        actors = self.actors
        return self._replace(actors=(*actors[:number], actor, *actors[number + 1 :]))

    def with_word(self, slot: int, word: Word) -> State:
        """Changes the slot: every earlier look at it is outdated."""
        slots = (*self.slots[:slot], word, *self.slots[slot + 1 :])
        return self._replace(slots=slots, actors=tuple(_past(slot, a) for a in self.actors))


def _past(slot: int, actor: Actor) -> Actor:
    mine, other = actor.mine, actor.other
    if mine and mine.slot == slot and mine.stands:
        actor = actor._replace(mine=Seen(slot, False))
    if other and other.slot == slot and other.stands:
        actor = actor._replace(other=Seen(slot, False))
    return actor
