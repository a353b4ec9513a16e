#!/usr/bin/env python3
"""Writes spec/commands.json and spec/vectors/commands.json from live servers (spec/commands.md).
It also copies spec/reads.json, which is written by hand, into packages.

tools/commands.py            starts Redis 7.0, Redis 8.0 and Valkey 8.0 and writes
tools/commands.py --check    only tells whether the files are what it would write
"""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

from command_table import cases, overrides, server, start, table

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "spec"
TABLE = SPEC / "commands.json"
# The packages carry a copy of the table.
COPIES = [
    ROOT / "crates" / "redis-namespace" / "src" / "commands.json",
    ROOT / "python" / "src" / "polycache" / "redis_namespace" / "commands.json",
    ROOT / "ruby" / "lib" / "polycache" / "redis_namespace" / "commands.json",
    ROOT / "typescript" / "src" / "redis-namespace" / "commands.json",
]
# What may be cached is written by hand. TypeScript's copy has another form, which a test compares.
READS = SPEC / "reads.json"
READS_COPIES = [
    ROOT / "crates" / "polycache" / "src" / "reads" / "reads.json",
    ROOT / "python" / "src" / "polycache" / "reads" / "reads.json",
    ROOT / "ruby" / "lib" / "polycache" / "reads" / "reads.json",
]


def made() -> dict[Path, str]:
    """Every file and its text."""
    said = overrides.read(SPEC / "commands.overrides.toml")
    with ExitStack() as stack:
        ports = [stack.enter_context(start.running(program)) for program in start.PROGRAMS]
        sentinels = [stack.enter_context(start.sentinel(program)) for program in start.PROGRAMS]
        servers = [server.ask(*both) for both in zip(ports, sentinels, strict=True)]
        calls = cases.text(
            call
            for one, port in zip(servers, ports, strict=True)
            for call in cases.calls(one, port)
        )
    written = table.text(table.table(servers, said))
    return (
        {TABLE: written, SPEC / "vectors" / "commands.json": calls}
        | dict.fromkeys(COPIES, written)
        | dict.fromkeys(READS_COPIES, READS.read_text())
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes spec/commands.json from live servers.")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when one is stale")
    options = parser.parse_args()
    missing = [program for program in start.PROGRAMS if shutil.which(program) is None]
    if missing:
        sys.exit(f"not here: {', '.join(missing)}; run tools/setup.sh servers")
    try:
        files = made()
    except table.Incomplete as why:
        sys.exit(f"spec/commands.overrides.toml does not say enough:\n{why}")
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if not options.check:
            path.write_text(files[path])
        print(f"{path.relative_to(ROOT)}: {'stale' if options.check else 'written'}")
    return int(options.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
