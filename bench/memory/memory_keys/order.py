"""Sequences of key numbers, the same for every subject: drawn once, read from a file by all."""

from __future__ import annotations

import random
import sys
from array import array
from itertools import accumulate
from pathlib import Path

SEED = 20261121
# How many draws a sequence has before it repeats; a power of two, as subjects mask their counter.
LENGTH = 2**20
# Near the skew of real caches' keys, and the constant of the Yahoo! Cloud Serving Benchmark.
EXPONENT = 0.99


def zipf(entries: int, length: int = LENGTH, exponent: float = EXPONENT) -> list[int]:
    """Key number `n` comes as often as `1 / rank ** exponent` says. Ranks are shuffled among the
    keys, so that popular ones do not lie together because they were written together."""
    chance = random.Random(SEED)
    keys = list(range(entries))
    chance.shuffle(keys)
    weights = accumulate(1 / rank**exponent for rank in range(1, entries + 1))
    return chance.choices(keys, cum_weights=list(weights), k=length)


def uniform(entries: int, length: int = LENGTH) -> list[int]:
    """Every key as often as any other."""
    return random.Random(SEED).choices(range(entries), k=length)


def write(path: Path, order: list[int]) -> None:
    """As little-endian 32-bit numbers."""
    numbers = array("I", order)
    if sys.byteorder == "big":
        numbers.byteswap()
    path.write_bytes(numbers.tobytes())
