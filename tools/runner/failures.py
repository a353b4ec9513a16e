"""Which tests failed and why, for the last lines of a run: a CI often keeps only those."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from .counts import COLOURS

# What a section that fails as a whole may add to the last lines, at most.
MOST = 10
WIDTH = 300

# A test that failed, as each test program says it; what follows on the next lines is the reason.
CARGO = re.compile(
    r"^thread '(?P<name>[^']+)'[^\n]* panicked at (?P<where>[^\n]*):\n(?P<why>[^\n]*)", re.M
)
CARGO_NAME = re.compile(r"^test (?P<name>\S+).* \.\.\. FAILED$", re.M)
MINITEST = re.compile(
    r"^ +\d+\) (?:Failure|Error):\n(?P<name>[^\n]+)\n(?P<why>[^\n]*(?:\n[^\n]+)?)", re.M
)
OUR_OWN = re.compile(r"^FAILED +(?P<name>[^\n]+)", re.M)


def failures(output: str, report: Path) -> tuple[str, ...]:
    """One line for each failed test, in the order in which they failed; none when none is told."""
    text = COLOURS.sub("", output)
    found = list(_junit(report)) or list(_cargo(text)) or list(_minitest(text))
    found = found or [match["name"] for match in OUR_OWN.finditer(text)]
    lines = [" ".join(line.split())[:WIDTH] for line in found]
    if len(lines) > MOST:
        lines[MOST:] = [f"and {len(lines) - MOST} more"]
    return tuple(lines)


def _junit(report: Path) -> Iterator[str]:
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return
    for case in root.iter("testcase"):
        for kind in ("failure", "error"):
            why = case.find(kind)
            if why is not None:
                name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
                yield f"{name}: {why.get('message') or why.text or ''}"


def _cargo(text: str) -> Iterator[str]:
    # A test that expects a panic, or catches one, has panicked too: only the failed ones count.
    # Without threads of their own, and in a child process, the panic bears another name.
    said = {match["name"]: match for match in CARGO.finditer(text)}
    for failed in CARGO_NAME.finditer(text):
        match = said.get(failed["name"])
        yield failed["name"] + (f": {match['where']}: {match['why']}" if match else "")


def _minitest(text: str) -> Iterator[str]:
    for match in MINITEST.finditer(text):
        yield f"{match['name'].removesuffix(':')}: {match['why']}"
