#!/usr/bin/env python3
"""Writes packages.txt, the data set for machines without dpkg: packages that do not exist.

The same text at every run. A package depends on packages before it, as in any distribution.
"""

from __future__ import annotations

import random
from pathlib import Path

FILE = Path(__file__).parent / "packages.txt"
COUNT = 240


def words(text: str) -> list[str]:
    return text.split()


FLAVOURS = words("amber basalt cedar delta ember fjord garnet heron iris juniper kelp lichen")
THINGS = words("archive clock compiler editor font index journal ledger parser player shell socket")
FORMS = {
    "": "the program",
    "-common": "files that do not depend on the machine",
    "-dev": "what is needed to build upon it",
    "-doc": "the handbook",
    "-tools": "small tools around it",
}
SECTIONS = ["admin", "devel", "doc", "editors", "libs", "net", "sound", "text", "utils"]
VERBS = words("reads writes sorts checks joins splits draws signs packs mirrors")
NOUNS = words("letters maps tables recipes timetables scores catalogues diaries forecasts tides")
MANNERS = ["in any order", "without haste", "by hand", "over night", "in two passes", "as asked"]


def packages() -> str:
    chance = random.Random(1)
    stems = [f"{flavour}-{thing}" for flavour in FLAVOURS for thing in THINGS]
    names = [stem + form for stem in stems for form in FORMS]
    chance.shuffle(names)
    names = names[:COUNT]
    return "\n".join(record(chance, names[:at], name) for at, name in enumerate(names))


def record(chance: random.Random, earlier: list[str], name: str) -> str:
    stem, form = split(name)
    lines = [
        f"Package: {name}",
        f"Version: {chance.randrange(9)}.{chance.randrange(40)}-{chance.randrange(1, 6)}",
        f"Section: {chance.choice(SECTIONS)}",
        f"Installed-Size: {chance.randrange(20, 9000)}",
    ]
    count = min(len(earlier), chance.randrange(6))
    if wanted := [dependency(chance, earlier) for _ in range(count)]:
        lines.append(f"Depends: {', '.join(wanted)}")
    lines.append(f"Description: {stem.replace('-', ' ')}, {FORMS[form]}")
    lines += [f" {sentence(chance)}" for _ in range(chance.randrange(2, 7))]
    return "\n".join(lines) + "\n"


def split(name: str) -> tuple[str, str]:
    form = next((form for form in FORMS if form and name.endswith(form)), "")
    return name.removesuffix(form), form


def dependency(chance: random.Random, earlier: list[str]) -> str:
    """Now and then with a version, or a choice of two."""
    # Squared, because what came early is what everything stands on.
    first = earlier[int(len(earlier) * chance.random() ** 2)]
    kind = chance.randrange(5)
    if kind == 0:
        return f"{first} (>= {chance.randrange(4)}.{chance.randrange(20)})"
    return f"{first} | {chance.choice(earlier)}" if kind == 1 else first


def sentence(chance: random.Random) -> str:
    verb, noun, manner = chance.choice(VERBS), chance.choice(NOUNS), chance.choice(MANNERS)
    return f"It {verb} {noun} {manner}, and {chance.choice(VERBS)} {chance.choice(NOUNS)} besides."


if __name__ == "__main__":
    FILE.write_text(packages(), encoding="utf-8")
