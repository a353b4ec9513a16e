#!/usr/bin/env python3
"""Writes stream.json: what a Redis stream of an editor's text box holds, as XRANGE returns it.

    python examples/http/generate.py

339 entries, `[id, [field, value, ...]]` each, of six fields. The values are made up, of the kinds
and as long as those of a published benchmark's stream (bench/http/README.md), so that a server
moves as many bytes: the JSON takes 41,714 bytes as lists and 46,799 as objects, and Redis 7.0 says
20,428 bytes to MEMORY USAGE. Every run writes the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

FILE = Path(__file__).with_name("stream.json")

# How often, then color, font, alignment, position: a style is chosen and stays for a while.
STYLES = [
    (31, "indigo", "rubik", "top", "left"),
    (49, "teal", "rubik", "top", "left"),
    (2, "teal", "rubik", "center", "right"),
    (257, "red", "cabin", "center", "center"),
]

# How often, then height and width. A box is empty when it opens, and often has one usual size.
USUAL_SIZES = [(37, "0", "0"), (70, "48", "361.421875")]
# The others: how often a height has that many digits, and a width that many decimals. Browsers
# measure in 64ths of a pixel, so six decimals are an odd number of them, five an even one.
HEIGHTS = {2: 150, 3: 82}
WIDTHS = {0: 96, 1: 7, 2: 1, 3: 7, 4: 18, 5: 26, 6: 77}

# Milliseconds since 1970 of the first entry; the longest pauses in and before a session.
START = 1_700_000_000_000
PAUSE, NIGHT = 2_500, 40_000_000


def stream(random: Random) -> list[tuple[str, list[str]]]:
    """The entries, oldest first."""
    styles = [style for count, *style in STYLES for _ in range(count)]
    entries = []
    time, number = START, 0
    for style, (height, width) in zip(styles, sizes(random), strict=True):
        pause = skewed(random, NIGHT if height == "0" else PAUSE)
        # Entries of one millisecond are told apart by a number.
        time, number = time + pause, 0 if pause else number + 1
        names = ("color", "font", "alignment", "position", "height", "width")
        values = (*style, height, width)
        fields = [text for pair in zip(names, values, strict=True) for text in pair]
        entries.append((f"{time}-{number}", fields))
    return entries


def sizes(random: Random) -> list[tuple[str, str]]:
    """Heights and widths in any order; how many there are of each length is fixed."""
    heights = [
        str(between(random, 10 ** (digits - 1), 10**digits))
        for digits, count in HEIGHTS.items()
        for _ in range(count)
    ]
    widths = [width(random, decimals) for decimals, count in WIDTHS.items() for _ in range(count)]
    usual = [size for count, *size in USUAL_SIZES for _ in range(count)]
    dealt = zip(shuffled(random, heights), shuffled(random, widths), strict=True)
    return [(height, width) for height, width in shuffled(random, [*usual, *dealt])]


def width(random: Random, decimals: int) -> str:
    whole = between(random, 150, 750)
    if decimals == 0:
        return str(whole)
    odd = 2 * between(random, 0, 2 ** (decimals - 1)) + 1
    return f"{whole + odd / 2**decimals:.{decimals}f}"


def skewed(random: Random, longest: int) -> int:
    """Mostly short, sometimes as long as that."""
    return int((longest + 1) ** random.random()) - 1


# Only random() is promised to be the same in every version of Python.


def between(random: Random, low: int, high: int) -> int:
    """From low to high - 1."""
    return low + int(random.random() * (high - low))


def shuffled(random: Random, cards: list[Any]) -> list[Any]:
    order = {place: random.random() for place in range(len(cards))}
    return [cards[place] for place in sorted(order, key=order.__getitem__)]


def text() -> str:
    return json.dumps(stream(Random(4)), separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
