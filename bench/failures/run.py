#!/usr/bin/env python3
"""Brings a Redis into trouble and measures what its clients do; `make bench-failures` calls it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from failures import case, tables
from failures.states import STATES
from failures.subject import Process
from harness import machine, results
from harness.row import Row, is_ours
from harness.subject import Subject, environment, find, node, python, ruby

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
# Not among the others: who is quick to fail is not faster, and no report should rank them.
RESULTS = FOLDER / "results.jsonl"
DOCUMENT = ROOT / "docs" / "remote.md"
TOOLS = Path(os.environ.get("POLYCACHE_TOOLS") or ROOT / "target" / "tools")
# Where setup.sh unpacks the gems.
DEBIAN = TOOLS / "debian" / "trixie" / "usr"
GEMS = DEBIAN / "share" / "rubygems-integration" / "all" / "gems"
LIBRARIES = DEBIAN / "lib" / "ruby" / "vendor_ruby"

# Seconds that a call is waited for.
BOUND = 100.0
QUICK_BOUND = 5.0


def subjects(wanted: list[str]) -> list[Subject]:
    found = [
        *(python(path) for path in find(FOLDER / "python", ".py")),
        *(node(path) for path in find(FOLDER / "subjects", ".mjs")),
        *(ruby(path) for path in find(FOLDER / "ruby", ".rb")),
    ]
    found.sort(key=lambda subject: not is_ours(subject.name))
    return [one for one in found if not wanted or one.name in wanted]


def begin(subject: Subject, folder: Path) -> Process:
    gems = [*sorted(GEMS.glob("*/lib")), *sorted(GEMS.glob("concurrent-ruby-[0-9]*/lib/*"))]
    around = environment(
        python=[FOLDER / "python" / "lib"], ruby=[FOLDER / "ruby" / "lib", *gems, LIBRARIES]
    )
    return Process(subject.command, around, folder / "errors")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subjects", nargs="*", default=[])
    parser.add_argument("--states", nargs="*", default=[])
    parser.add_argument("--bound", type=float, help="seconds that a call is waited for")
    parser.add_argument(
        "--docs", action="store_true", help="only writes the tables into docs/remote.md"
    )
    arguments = parser.parse_args()
    if arguments.docs:
        tables.write(DOCUMENT, RESULTS)
        return 0
    quick = bool(os.environ.get("QUICK"))
    bound = arguments.bound or (QUICK_BOUND if quick else BOUND)
    chosen = subjects(arguments.subjects)
    rows: list[Row] = []
    versions: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="polycache-failures-") as place:
        for number, state in enumerate(STATES):
            if arguments.states and state.name not in arguments.states:
                continue
            began = time.monotonic()
            folder = Path(place) / str(number)
            folder.mkdir()
            found, of = case.run(state, chosen, begin, folder, bound)
            rows += found
            versions |= of
            print(f"{state.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        described = machine.describe(Path(place), versions)
    print(tables.tables(results.as_json("failures", row) for row in rows))
    for row in rows:
        if row.failure and "no such operation" not in row.failure:
            print(f"{row.workload}, {row.subject}, {row.operation}: {row.failure}", file=sys.stderr)
    if not (quick or arguments.subjects or arguments.states or arguments.bound):
        RESULTS.write_text(results.json_lines("failures", rows, described))
        tables.write(DOCUMENT, RESULTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
