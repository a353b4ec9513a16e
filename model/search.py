"""The search that the models of one block, a large value, levels and floors share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

Rule = Callable[[str], bool]
M = TypeVar("M", bound=Hashable)


@dataclass(frozen=True)
class SearchResult:
    """The result of a search; `wrong` is empty when every moment keeps every promise."""

    moments: int
    wrong: str = ""
    story: tuple[str, ...] = ()


def all_but(without: str) -> Rule:
    """Which rules are followed when this one is left out."""
    return lambda name: name != without


def search(
    first: M,
    steps: Callable[[M], Iterable[M]],
    broken: Callable[[M], str],
    line: Callable[[M], str],
    lost: Callable[[M], str] = lambda _: "",
) -> SearchResult:
    """Visits every moment, breadth first: the story of what went wrong is a shortest one.

    `broken` says what is wrong with a moment, `lost` with one that nothing follows; "" for nothing.
    `line` tells a moment in the story.
    """
    came_from: dict[M, M | None] = {first: None}
    todo = [first]
    while todo:
        after = []
        for moment in todo:
            ended = True
            for then in steps(moment):
                ended = False
                if then in came_from:
                    continue
                came_from[then] = moment
                if wrong := broken(then):
                    return SearchResult(len(came_from), wrong, _story(came_from, then, line))
                after.append(then)
            if ended and (wrong := lost(moment)):
                return SearchResult(len(came_from), wrong, _story(came_from, moment, line))
        todo = after
    return SearchResult(len(came_from))


def _story(came_from: dict[M, M | None], last: M, line: Callable[[M], str]) -> tuple[str, ...]:
    path = [last]
    while (before := came_from[path[-1]]) is not None:
        path.append(before)
    path.reverse()
    return tuple(line(moment) for moment in path)
