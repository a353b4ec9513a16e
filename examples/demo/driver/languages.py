"""The four languages: how the worker of each is started, and what it needs to be there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
WORKERS = ROOT / "examples" / "demo" / "workers"
BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"

# The exit code of tools/setup.sh when something cannot be had on this machine.
MISSING = 3


@dataclass(frozen=True)
class Language:
    name: str
    title: str
    command: list[str]
    need: str
    """What tools/setup.sh calls the language."""
    built: str
    """The native extension that the build gives it, as a pattern under the repository."""

    def missing(self) -> str:
        """Why the language cannot take part; empty when it can."""
        if self.need:  # Rust is what everything is built with.
            setup = subprocess.run(
                [ROOT / "tools/setup.sh", self.need], stdout=sys.stderr, check=False
            )
            if setup.returncode == MISSING:
                return f"no {self.need} here"
            if setup.returncode:
                return f"tools/setup.sh {self.need} failed"
        if shutil.which(self.command[0]) is None:
            return f"no {self.command[0]} here"
        if self.built and not any(ROOT.glob(self.built)):
            return f"{self.built} is not built (make build)"
        return ""


LANGUAGES = [
    Language("rust", "Rust", [str(BUILT / "demo-worker")], "", ""),
    Language(
        "typescript",
        "TypeScript",
        ["node", str(WORKERS / "worker.ts")],
        "node",
        "typescript/native/*.node",
    ),
    Language(
        "python",
        "Python",
        ["python", str(WORKERS / "worker.py")],
        "python",
        "python/src/polycache/_native*.so",
    ),
    Language(
        "ruby",
        "Ruby",
        ["ruby", str(WORKERS / "worker.rb")],
        "ruby",
        "ruby/lib/polycache/polycache.*",
    ),
]
BY_NAME = {language.name: language for language in LANGUAGES}
