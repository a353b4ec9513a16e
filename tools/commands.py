#!/usr/bin/env python3
"""Writes spec/commands.json from live servers (spec/commands.md).

    tools/commands.py PORT...            the ports of Redis 7.0, Redis 8.0 and Valkey 8.0
    tools/commands.py PORT... --check    only tells whether the file is what it would write
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from command_table import overrides, server, table

SPEC = Path(__file__).resolve().parent.parent / "spec"


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes spec/commands.json from live servers.")
    parser.add_argument("ports", nargs="+", type=int, metavar="PORT")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when it is stale")
    options = parser.parse_args()
    said = overrides.read(SPEC / "commands.overrides.toml")
    try:
        made = table.text(table.table([server.ask(port) for port in options.ports], said))
    except table.Incomplete as why:
        sys.exit(f"spec/commands.overrides.toml does not say enough:\n{why}")
    path = SPEC / "commands.json"
    if options.check:
        return int(path.read_text() != made)
    path.write_text(made)
    print(f"{path.name}: {made.count(chr(10)) - 2} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
