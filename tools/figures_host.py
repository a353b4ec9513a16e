"""docs/benchmarks.md's table of the host tier, from bench/results/host.jsonl, and what the README
says of it in a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

# What the report of the benchmark has besides: not a store, or not a single operation's time.
NOT_A_STORE = {"copy"}
UNIT = "ns per operation"
SIZE = "100 B"
# The sentence's workload; the first of each language, where reads stay in the processor's cache.
KEYS = "10k keys"

# A store of which the size is looked at, not the usual time.
GROWING = "growing"

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
    """The table, from the lines of the results file."""
    rows: list[Row] = [json.loads(line) for line in lines]
    machine: Row = next((row["machine"] for row in rows if "machine" in row), {})
    measured = [row for row in rows if _belongs(row)]
    if not measured:
        return NONE
    text = [
        f"Text values of {SIZE}, one process, medians in ns. In brackets: the store's best when it",
        "works in batches or in one long transaction, where that is faster.",
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


def sentence(lines: Iterable[str]) -> str:
    """How long a get takes in each language, and how long the fastest peer's takes there."""
    rows: list[Row] = [row for line in lines if _belongs(row := json.loads(line))]
    said = []
    for language, name in LANGUAGES.items():
        gets = [
            row
            for row in rows
            if _language(row) == language and row["operation"] == "get" and KEYS in row["workload"]
        ]
        ours = [row["median"] for row in gets if row["subject"] == "polycache"]
        peers = sorted(
            (row["median"], row["subject"])
            for row in gets
            if not row["subject"].startswith("polycache")
        )
        if ours and peers:
            time, subject = peers[0]
            peer = {"redis": "Redis"}.get(subject, SUBJECTS.get(subject, subject))
            said.append(f"{ours[0]:,.0f} ns in {name} ({peer}: {time:,.0f})")
    return f"A get of {SIZE} takes {', '.join(said)}." if said else ""


def _belongs(row: Row) -> bool:
    return (
        row.get("unit") == UNIT
        and row["median"] is not None
        and row["subject"] not in NOT_A_STORE
        and row["workload"].partition(", ")[2].startswith(SIZE)
        and not row["workload"].endswith(GROWING)
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
