"""A subject: a small file in a benchmark's folder, started as a process of its own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .row import is_ours

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent


@dataclass(frozen=True)
class Subject:
    """`name` is what rows call it. `absent` says why there is nothing to start, where there is
    nothing: its row stands empty and says so."""

    name: str
    command: tuple[str, ...] = ()
    absent: str = ""

    @property
    def is_ours(self) -> bool:
        return is_ours(self.name)


def node(path: Path) -> Subject:
    return Subject(path.stem, (_program("node"), str(path)))


def bun(path: Path) -> Subject:
    return Subject(path.stem, (_program("bun"), str(path)))


def python(path: Path) -> Subject:
    # -P: a subject may be called as the library that it measures.
    return Subject(path.stem, (sys.executable, "-P", str(path)))


def ruby(path: Path) -> Subject:
    return Subject(path.stem, (_program("ruby"), str(path)))


def shell(path: Path) -> Subject:
    """What starts a program that was compiled, by `exec`."""
    return Subject(path.stem, ("bash", str(path)))


def find(folder: Path, ending: str) -> list[Path]:
    """The subjects' files in a folder, ours first. Shared code is in folders beside them."""
    return sorted(folder.glob(f"*{ending}"), key=lambda path: (not is_ours(path.stem), path.stem))


def environment(
    python: Sequence[Path] = (), ruby: Sequence[Path] = (), **more: str
) -> Mapping[str, str]:
    """What a subject's process sees: the packages from this checkout, and bench/serve."""
    serve = BENCH / "serve"
    paths = {
        "PYTHONPATH": [*python, serve, ROOT / "python" / "src"],
        "RUBYLIB": [*ruby, serve, ROOT / "ruby" / "lib"],
    }
    return os.environ | {name: os.pathsep.join(map(str, all)) for name, all in paths.items()} | more


def _program(name: str) -> str:
    return shutil.which(name) or name
