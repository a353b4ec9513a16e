"""Keys and values, the same files for every subject of every language."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from pathlib import Path

MIB = 1 << 20
# What a key and its bookkeeping take beside the value, generously.
OVERHEAD = 96
# Distinct values; the n-th write stores the n-th of them, round and round.
VALUES = 256
SEED = 20260


@dataclass(frozen=True)
class Workload:
    """`keys` keys with text values of `size` bytes. `room` is a byte limit that they never reach:
    the store grows with them. Without it a bounded store is in its steady state."""

    size: int
    keys: int
    room: int = 0

    @property
    def name(self) -> str:
        size = f"{self.size} B" if self.size < 1000 else f"{self.size // 1000} KB"
        keys = f"{self.keys // 1000}k" if self.keys >= 1000 else str(self.keys)
        return f"{size}, {keys} keys" + (", growing" if self.room else "")

    @property
    def limit(self) -> int:
        """A byte limit of which the keys fill about half, or `room`."""
        return self.room or max(4 * MIB, 2 * self.keys * (self.size + OVERHEAD) // MIB * MIB)

    @property
    def passes(self) -> int:
        """How often a bounded store is filled with all keys: its limit twice over, or once."""
        if self.room:
            return 1
        return 1 + -(-2 * self.limit // (self.keys * self.size))

    def write(self, folder: Path) -> None:
        """The reads go in another order than the writes, so no store reads along its log."""
        folder.mkdir(parents=True)
        chance = random.Random(SEED)
        keys = [f"user:{number:06d}" for number in range(self.keys)]
        for name in ("writes", "reads"):
            chance.shuffle(keys)
            _write_lines(folder / f"{name}.txt", keys)
        letters = string.ascii_letters + string.digits
        values = ["".join(chance.choices(letters, k=self.size)) for _ in range(VALUES)]
        _write_lines(folder / "values.txt", values)


def _write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines))
