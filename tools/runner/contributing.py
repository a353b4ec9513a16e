"""The commands of CONTRIBUTING.md that run one test, run as a contributor would."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from .counts import COLOURS, Counts

ROW = re.compile(r"^\| (?P<language>\w+) \| `(?P<command>[^`]+)` \|$", re.M)
# What cargo, Vitest, pytest and minitest say of tests that ran. A filter that matches nothing makes
# none of them fail.
RAN = re.compile(r"\b([1-9]\d*) (?:passed|runs)\b")


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The rows of the table "one test": a language and its command."""
    table = re.search(r"^\| language \| one test \|\n\|[-|]+\n(?P<rows>(?:\|.*\n)+)", text, re.M)
    if table is None:
        raise ValueError("CONTRIBUTING.md has no table of one test in each language")
    for row in ROW.finditer(table["rows"]):
        yield row["language"], row["command"]


def run(root: Path) -> Counts:
    return sum(
        (_run(root, *one) for one in commands((root / "CONTRIBUTING.md").read_text())), Counts()
    )


def _run(root: Path, language: str, command: str) -> Counts:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=root,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode == 0 and ran(done.stdout):
        print(f"passed  CONTRIBUTING.md, one test in {language}", flush=True)
        return Counts(passed=1)
    why = f"exit code {done.returncode}" if done.returncode else "no test ran"
    print(f"FAILED  CONTRIBUTING.md: {command} ({why})\n{done.stdout}", flush=True)
    return Counts(failed=1)


def ran(output: str) -> bool:
    return RAN.search(COLOURS.sub("", output)) is not None
