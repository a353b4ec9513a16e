"""What the tests of the npm package run: the runtimes, npm, and the programs of `npm/programs`."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from command import run
from npm_registry import Registry

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = HERE / "npm/programs"
TOOLS = Path(os.environ.get("POLYCACHE_TOOLS") or ROOT / "target/tools") / "bin"
NPM = str(TOOLS / "npm")
QUIET = ["--no-audit", "--no-fund", "--loglevel=error"]
RUNTIMES = {
    "node22": str(TOOLS / "node22"),
    "node24": str(TOOLS / "node"),
    "bun": str(TOOLS / "bun"),
}
NODES = ["node22", "node24"]
VERSION: str = json.loads((ROOT / "typescript/package.json").read_text())["version"]


def install(folder: Path, registry: Registry, *flags: str) -> None:
    """`npm install polycache`, then the programs of the tests."""
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text('{ "private": true }')
    run([NPM, "install", "polycache", "--registry", registry.address, *QUIET, *flags], folder)
    shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)


def say(runtime: str, folder: Path, *words: str | Path) -> str:
    """What a program prints."""
    return run([RUNTIMES[runtime], *words], folder).stdout.strip()
