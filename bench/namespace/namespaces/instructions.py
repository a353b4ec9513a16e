"""Counts the instructions of rewriting commands in Rust, with valgrind: it decides where times are
too close to call.

    PYTHONPATH=bench:bench/namespace python -m namespaces.instructions

The instructions of twice as many commands, less those of the commands, by their number. The bare
client's are those of encoding; what ours has more of is the rewriting.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from harness.subject import ROOT

from .peers import RUST

COMMANDS = ("GET", "SET", "MGET", "KEYS")
TIMES = 1000
BUILD = ["cargo", "build", "--release", "--locked", "--quiet", "--example", "instructions"]
VALGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]


def main() -> None:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "bench-namespace"
    manifest = ["--manifest-path", str(RUST / "Cargo.toml")]
    subprocess.run(
        [*BUILD, *manifest], env=os.environ | {"CARGO_TARGET_DIR": str(target)}, check=True
    )
    program = str(target / "release" / "examples" / "instructions")
    print("| command | redis-rs | polycache-namespace-on-redis-rs | of the rewriting |")
    print("|---|---|---|---|")
    for command in COMMANDS:
        bare, ours = (each(program, who, command) for who in ("redis-rs", "polycache"))
        print(f"| {command} | {bare:,} | {ours:,} | {ours - bare:,} |", flush=True)


def each(program: str, who: str, command: str) -> int:
    """Instructions of one command."""
    few, many = (count([program, who, command, str(n)]) for n in (TIMES, 2 * TIMES))
    return (many - few) // TIMES


def count(command: list[str]) -> int:
    done = subprocess.run([*VALGRIND, *command], capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if not found:
        sys.exit((done.stderr.strip().splitlines() or ["valgrind said nothing"])[-1])
    return int(found[1].replace(",", ""))


if __name__ == "__main__":
    main()
