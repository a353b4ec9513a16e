#!/usr/bin/env python3
"""Writes the figures of bench/results/*.jsonl into docs/benchmarks.md and README.md, between their
marks.

    make bench && make readme

A test fails while the pages' figures are not those of the files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import figures_growth
import figures_host
import figures_http
import figures_peers
import figures_stores

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"
DISK = RESULTS / "disk.jsonl"
HTTP = RESULTS / "http.jsonl"
GROWTH = RESULTS / "disk-growth.jsonl"
PICTURE = PAGE.parent / figures_growth.PICTURE


def current() -> dict[tuple[Path, str], str]:
    """What stands between the marks of each page, by their names."""
    host = RESULTS / "host.jsonl"
    lines = host.read_text().splitlines() if host.exists() else []
    return {
        (PAGE, "peers"): figures_peers.block(RESULTS),
        (PAGE, "limits"): figures_peers.limits(RESULTS),
        (PAGE, "host"): figures_host.block(lines),
        (PAGE, "growth"): figures_growth.block(figures_growth.load(GROWTH)),
        (PAGE, "http"): figures_http.block(figures_growth.load(HTTP)),
        (PAGE, "stores"): figures_stores.block(figures_growth.load(DISK)),
        (README, "summary"): figures_peers.sentences(RESULTS, figures_host.sentence(lines)),
    }


def marked(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=<!-- bench:{name} -->\n).*?(?=<!-- /bench:{name} -->)", re.S)


def main() -> None:
    for (page, name), figures in current().items():
        text, count = marked(name).subn(lambda _, new=figures: new, page.read_text())  # type: ignore[misc]
        if count != 1:
            sys.exit(f"{page.name} has not one block between its marks <!-- bench:{name} -->")
        page.write_text(text)
    drawn = figures_growth.picture(figures_growth.load(GROWTH))
    if drawn:
        PICTURE.write_text(drawn)


if __name__ == "__main__":
    main()
