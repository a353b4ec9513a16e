"""Which peers of a workload are the strongest, for tables and pictures that show some of many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import zip_longest
from math import inf, log

from .standing import Standing, Verdict, isolation

# A ratio of 0 or infinity (a hit ratio of nothing) must not outweigh all others.
MOST = 1000.0


def strongest(found: Sequence[Standing], most: int) -> list[str]:
    """The names of up to `most` peers, the strongest first: by the mean of the logarithms of how
    many times as good ours, or the best of them, is. Where some hand out copies and others their
    own objects, each kind has its turn: the second would leave no place for the first."""
    logs: dict[str, list[float]] = defaultdict(list)
    kinds: dict[str, str] = {}
    for one in found:
        if _is_peer(one) and one.beside:
            times = min(max(one.beside.times, 1 / MOST), MOST)
            logs[one.figure.subject].append(log(times))
            kinds[one.figure.subject] = isolation(one.figure)
    # One that was measured in few operations is not strong for having had luck in one of them.
    full = max((len(values) for values in logs.values()), default=0)

    def weakness(name: str) -> float:
        values = logs[name]
        return sum(values) / len(values) if 2 * len(values) >= full else inf

    by_strength = sorted(logs, key=weakness)
    turns = [[n for n in by_strength if kinds[n] == kind] for kind in sorted(set(kinds.values()))]
    in_turn = [name for turn in zip_longest(*turns) for name in turn if name is not None]
    return sorted(in_turn[:most], key=by_strength.index)


def _is_peer(one: Standing) -> bool:
    return not one.figure.is_ours and one.verdict not in (Verdict.LIMIT, Verdict.FAILED)
