"""Looks into the cache with the command `polycache`: each command is shown, run and judged."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .languages import BUILT

# Lines of an output that are shown.
SHOWN = 8
WIDTH = 100


@dataclass(frozen=True)
class Look:
    command: str
    """As it is typed in the folder where the demo was started."""
    output: list[str]
    good: bool
    says: str
    """What the output shows when it is good."""


def looks(cache: str, keys: Sequence[str]) -> Iterator[Look]:
    program = shlex.quote(shown(BUILT / "polycache"))
    there = f"-d {shlex.quote(cache)}"
    packages = f"{there} -n demo -n packages"
    key = next((key for key in keys if key == "bash"), keys[0])

    yield look(f"{program} stats {there}", "", "what the whole directory holds")
    yield look(
        f"{program} keys {packages} | wc -l", str(len(keys)), "every record is one of the keys"
    )
    yield look(
        f"{program} get {packages} -- {shlex.quote(key)}", key, "one of them, with size and age"
    )
    yield look(f"{program} check {there}", " 0 damaged", "every entry agrees with its checksum")


def look(command: str, wanted: str, says: str) -> Look:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    good = done.returncode == 0 and bool(lines) and wanted in done.stdout
    return Look(command, shortened(lines), good, says)


def shortened(lines: list[str]) -> list[str]:
    short = [line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in lines]
    return short if len(short) <= SHOWN + 1 else [*short[:SHOWN], f"… {len(short) - SHOWN} more"]


def shown(path: Path) -> str:
    """A path as one would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
