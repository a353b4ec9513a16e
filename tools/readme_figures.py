#!/usr/bin/env python3
"""Writes the figures of bench/results/*.jsonl into README.md, between its marks: those of the
host tier one by one, and those of all benchmarks beside their peers (readme_peers.py).

    make bench && make readme

A test fails while the README's figures are not those of the files.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import readme_peers

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "bench" / "results"
RESULTS = FOLDER / "host.jsonl"
README = ROOT / "README.md"

MARKED = re.compile(r"(?<=<!-- bench:host -->\n).*?(?=<!-- /bench:host -->)", re.S)
MARKED_PEERS = re.compile(r"(?<=<!-- bench:peers -->\n).*?(?=<!-- /bench:peers -->)", re.S)

# What the report of the benchmark has besides: not a store, or not a single operation's time.
NOT_A_STORE = {"copy"}
UNIT = "ns per operation"
SIZE = "100 B"

LANGUAGES = {"rust": "Rust", "node": "Node", "python": "Python", "ruby": "Ruby"}
SUBJECTS = {
    "polycache": "**Polycache**",
    "polycache-store": "**Polycache**, the bare engine",
    "lmdb": "LMDB",
    "lmdb-writemap": "LMDB, write map",
    "redis": "Redis on the same host",
}

NONE = "No figures are published yet; `make bench-host` measures on your machine.\n"

Row = dict[str, Any]


def block(lines: Iterable[str]) -> str:
    """What stands between the marks, from the lines of the results file."""
    rows: list[Row] = [json.loads(line) for line in lines]
    machine: Row = next((row["machine"] for row in rows if "machine" in row), {})
    measured = [row for row in rows if _belongs(row)]
    if not measured:
        return NONE
    text = [
        f"Text values of {SIZE}, one process, medians in ns. In brackets: the store's best when it",
        "works in batches or in one long transaction, where that is quicker.",
        "",
        "| | get | put |",
        "|---|---|---|",
    ]
    for language, subject in dict.fromkeys((_language(row), row["subject"]) for row in measured):
        of_it = [r for r in measured if (_language(r), r["subject"]) == (language, subject)]
        name = SUBJECTS.get(subject, subject)
        cells = " | ".join(_cell(of_it, family) for family in ("get", "put"))
        text.append(f"| {LANGUAGES[language]}: {name} | {cells} |")
    text += [
        "",
        f"Measured {machine['date'][:10]} on {machine['processor']}, {machine['cores']} cores, "
        f"{machine['file_system']}. Stores differ in what",
        "a write survives and in what they offer beside speed: `bench/host/README.md` says how it",
        "was measured, `make bench-host` measures on your machine.",
    ]
    return "\n".join(text) + "\n"


def _belongs(row: Row) -> bool:
    return (
        row.get("unit") == UNIT
        and row["median"] is not None
        and row["subject"] not in NOT_A_STORE
        and row["workload"].partition(", ")[2].startswith(SIZE)
    )


def _language(row: Row) -> str:
    return str(row["workload"].partition(", ")[0])


def _cell(rows: list[Row], family: str) -> str:
    """The time of a single operation; behind it the best of the others of its family."""
    single = [row["median"] for row in rows if row["operation"] == family]
    others = [row["median"] for row in rows if row["operation"].startswith(f"{family}, ")]
    if not single:
        return f"({min(others):,.0f})" if others else ""
    best = min(single + others)
    return f"{single[0]:,.0f}" + (f" ({best:,.0f})" if best < single[0] else "")


def current() -> str:
    return block(RESULTS.read_text().splitlines() if RESULTS.exists() else [])


def current_peers() -> str:
    return readme_peers.block(FOLDER)


def main() -> None:
    text = README.read_text()
    text = _with(text, "host", MARKED, current())
    README.write_text(_with(text, "peers", MARKED_PEERS, current_peers()))


def _with(text: str, name: str, marked: re.Pattern[str], figures: str) -> str:
    text, count = marked.subn(lambda _: figures, text)
    if count != 1:
        sys.exit(f"README.md has not one block between its marks <!-- bench:{name} -->")
    return text


if __name__ == "__main__":
    main()
