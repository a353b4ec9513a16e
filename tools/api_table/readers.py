"""Asks each language what its package offers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import reference

from . import read_rust
from .package import Package, package

HERE = Path(__file__).resolve().parent


class Unreadable(Exception):
    """A package could not be asked; the message is what its language said."""


def rust(root: Path) -> Any:
    """The pages are made anew; where nothing changed, cargo knows."""
    reference.OUT.mkdir(parents=True, exist_ok=True)
    problems = reference.rust().problems
    if problems:
        raise Unreadable("\n".join(problems))
    return read_rust.read(reference.target() / "doc", root)


def typescript(root: Path) -> Any:
    return _told(root, ["node", str(HERE / "read_typescript.mjs"), str(root)])


def python(root: Path) -> Any:
    # Without bytecode, which Python takes for current when second and size are the same.
    program = [sys.executable, "-B", str(HERE / "read_python.py"), str(root)]
    return _told(root, program, PYTHONPATH=str(root / "python/src"))


def ruby(root: Path) -> Any:
    program = ["ruby", str(HERE / "read_ruby.rb"), str(root)]
    return _told(root, program, RUBYLIB=str(root / "ruby/lib"))


READERS: dict[str, Callable[[Path], Any]] = {
    "rust": rust,
    "typescript": typescript,
    "python": python,
    "ruby": ruby,
}


def read(language: str, root: Path) -> Package:
    """Raises Unreadable."""
    return package(language, READERS[language](root))


def _told(root: Path, program: list[str], **environment: str) -> Any:
    done = subprocess.run(
        program,
        cwd=root,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unreadable(f"{' '.join(program)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)
