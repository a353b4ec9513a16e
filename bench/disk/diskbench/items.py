"""The page's keys and values: `%06d`, random letters and digits."""

from __future__ import annotations

import random
import string

# Distinct values; the n-th key gets the n-th of them, round and round. Far more than any store
# compresses together.
VALUES = 1024
SEED = 20260

_LETTERS = (string.ascii_letters + string.digits).encode()
# Every byte below this stands for a letter, each letter for equally many bytes.
_USED = 256 // len(_LETTERS) * len(_LETTERS)
_TABLE = bytes(_LETTERS[byte % len(_LETTERS)] for byte in range(256))


def keys(count: int) -> list[str]:
    return [f"{number:06d}" for number in range(count)]


def shuffled(keys: list[str], seed: int = SEED) -> list[str]:
    return random.Random(seed).sample(keys, len(keys))


def wide_key(number: int) -> str:
    """Of a store that grows to ten million: the page's six digits would leave their order there,
    which B-trees would feel."""
    return f"{number:08d}"


def values(size: int, count: int = VALUES) -> list[str]:
    chance = random.Random(SEED + size)
    wanted, text = size * count, b""
    while len(text) < wanted:
        text += chance.randbytes(wanted).translate(_TABLE, bytes(range(_USED, 256)))
    return [text[first : first + size].decode() for first in range(0, wanted, size)]


def how_many(keys: int, most: int | None, share: float) -> int:
    """Keys of a round: a share of the workload's, or of the most that a slow store takes."""
    return max(1, round(min(keys, most or keys) * share))


def items(count: int, size: int) -> list[tuple[str, str]]:
    texts = values(size, min(VALUES, count))
    return [(key, texts[number % len(texts)]) for number, key in enumerate(keys(count))]
