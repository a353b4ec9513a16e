"""Finds the subjects: a file in a language's folder each."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

HOST = Path(__file__).resolve().parent.parent
ROOT = HOST.parent.parent


@dataclass(frozen=True)
class Subject:
    """`name` is the file's; the process tells its own when it is opened."""

    language: str
    name: str
    command: tuple[str, ...]

    @property
    def is_ours(self) -> bool:
        return self.name.startswith("polycache")


# Where a language keeps its subjects, and how one is started. Shared code is in `lib`.
FOLDERS = {
    "rust": ("rust/src/bin", ".rs"),
    "python": ("python", ".py"),
    "node": ("node", ".mjs"),
    "ruby": ("ruby", ".rb"),
}
LANGUAGES = tuple(FOLDERS)


def find(language: str) -> list[Subject]:
    """All subjects of a language, ours first."""
    folder, ending = FOLDERS[language]
    subjects = [
        Subject(language, path.stem, _command(language, path))
        for path in (HOST / folder).glob(f"*{ending}")
    ]
    return sorted(subjects, key=lambda subject: (not subject.is_ours, subject.name))


def environment() -> dict[str, str]:
    """The packages are used from this checkout."""
    paths = {
        "PYTHONPATH": [HOST / "python" / "lib", ROOT / "python" / "src"],
        "RUBYLIB": [HOST / "ruby" / "lib", ROOT / "ruby" / "lib"],
    }
    return os.environ | {name: os.pathsep.join(map(str, all)) for name, all in paths.items()}


def _command(language: str, path: Path) -> tuple[str, ...]:
    if language == "rust":
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        return (str(target / "bench-host" / "release" / path.stem),)
    if language == "python":
        # -P: a subject may be called as the library that it measures.
        return (sys.executable, "-P", str(path))
    return (shutil.which(language) or language, str(path))
