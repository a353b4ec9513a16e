"""How every figure stands beside ours, in one word. Ratios are of medians: the results files hold
no single rounds, unlike the reports that the benchmarks print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.compare import Beside
from harness.row import OURS, more_is_better

from .figures import Figure

# What a subject is called in rows that say something of all its operations.
ALL_OPERATIONS = "-"

# Notes that say what a write survives once it has returned, and what they mean.
DURABILITY = {
    "none": "a write survives nothing: durability none",
    "survives kill -9": "a write survives kill -9",
    "synced": "a write is synced to the disk",
}
ISOLATION = "isolation:"
# The isolation of a cache that hands out its own object.
SHARED = "none"
# What caches of an isolation hand out.
HANDS_OUT = {
    "": "the others",
    "clone": "copies",
    "frozen": "frozen copies",
    "none": "their own objects",
}
# Whether entries can expire: what is held against each other should both, or neither.
EXPIRY = ("TTL", "no TTL")

IsLimit = Callable[[Figure], bool]


class Verdict(StrEnum):
    """Of ours, beside the row that it stands in."""

    OURS = "ours"
    WON = "won"
    LOST = "lost"
    CLOSE = "too close to call"
    EMPTY = "ours is empty"
    LIMIT = "a limit"
    FAILED = "not measured"


# What counts: a peer's row beside one of ours.
COUNTED = (Verdict.WON, Verdict.LOST, Verdict.CLOSE)


@dataclass(frozen=True)
class Standing:
    """A figure beside its reference: ours, or the best of the peers where ours is empty."""

    figure: Figure
    verdict: Verdict
    beside: Beside | None = None
    # The reference's operation, where it is not the figure's own.
    of: str = ""
    # Whether its writes survive something else than ours, or its values are isolated otherwise.
    other_class: bool = False


def standings(figures: Sequence[Figure], is_limit: IsLimit = lambda _: False) -> list[Standing]:
    """Of the figures of one workload, in their order. Limits bound what can be reached and are no
    peers."""
    return [_standing(one, figures, is_limit) for one in figures]


def best(figures: Sequence[Figure]) -> Figure | None:
    """The best of figures of one operation."""
    measured = [one for one in figures if one.measured]
    if not measured:
        return None
    choose = max if more_is_better(measured[0].unit) else min
    return choose(measured, key=lambda one: one.value)


def family(operation: str) -> str:
    """`put` for `put, batches of 100`: another way of doing the same."""
    return operation.partition(", ")[0]


def times_as_good(standard: Figure, one: Figure) -> float:
    """How many times as good (as fast, as small, as many) the standard is."""
    better, worse = (
        (standard.value, one.value) if more_is_better(one.unit) else (one.value, standard.value)
    )
    if worse == 0:
        return 1.0 if better == 0 else float("inf")
    return better / worse


def class_of(one: Figure) -> set[str]:
    """What a figure must share with another to be compared within a class."""
    return {note for note in one.notes if note in DURABILITY or note.startswith(ISOLATION)}


def isolation(one: Figure) -> str:
    """`none`, `clone` or `frozen`, or nothing where its notes do not say."""
    said = (note for note in one.notes if note.startswith(ISOLATION))
    return next((note.removeprefix(ISOLATION).strip() for note in said), "")


def isolates_less(one: Figure, ours: Figure) -> bool:
    """Whether it hands out its own object where all of ours hand out copies: it does less work, so
    that it shows a limit."""
    return isolation(one) == SHARED and isolation(ours) not in ("", SHARED)


def counterpart(one: Figure, figures: Sequence[Figure]) -> Figure | None:
    """Our row that this one is compared with. It is of the same operation, or else of its family: a
    peer that works in batches of 100 is compared with our single operations, where we have no
    batches. If several are ours, it is the one that does the same for its user: that isolates
    values alike, whose writes survive as much, that expires entries or does not; of those the
    first. Our own rows are compared with our first."""
    ours = [f for f in figures if f.is_ours and f.measured and f.unit == one.unit]
    exact = [f for f in ours if f.operation == one.operation]
    kin = [f for f in ours if f.operation == family(one.operation)]
    candidates = exact or kin
    if one.is_ours:
        return next(iter(candidates), None)
    return max(candidates, key=lambda f: _likeness(f, one), default=None)


def _likeness(one: Figure, other: Figure) -> tuple[bool, bool]:
    expiry = [note for note in EXPIRY if note in other.notes]
    return class_of(one) == class_of(other), all(note in one.notes for note in expiry)


def count(found: Sequence[Standing]) -> Counter[Verdict]:
    return Counter(one.verdict for one in found)


def _standing(one: Figure, figures: Sequence[Figure], is_limit: IsLimit) -> Standing:
    if not one.measured:
        return Standing(one, Verdict.EMPTY if one.is_ours else Verdict.FAILED)
    ours = counterpart(one, figures)
    if ours is one:
        return Standing(one, Verdict.OURS)
    limit = is_limit(one)
    if ours is None:
        peers = [f for f in _same(one, figures) if not is_limit(f)]
        top = best(peers) or one
        beside = Beside(times_as_good(top, one), top.subject)
        return Standing(one, Verdict.LIMIT if limit else Verdict.EMPTY, beside)
    beside = Beside(times_as_good(ours, one), ours.subject)
    of = "" if ours.operation == one.operation else ours.operation
    other = class_of(one) != class_of(ours)
    if one.is_ours:
        return Standing(one, Verdict.OURS, beside, of, other)
    limit = limit or isolates_less(one, ours)
    return Standing(one, Verdict.LIMIT if limit else verdict_of(beside.times), beside, of, other)


def verdict_of(times: float) -> Verdict:
    """Of a ratio that says how many times as good ours is."""
    if Beside(times, OURS).close:
        return Verdict.CLOSE
    return Verdict.WON if times > 1 else Verdict.LOST


def _same(one: Figure, figures: Sequence[Figure]) -> list[Figure]:
    return [f for f in figures if (f.operation, f.unit) == (one.operation, one.unit)]
