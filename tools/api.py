#!/usr/bin/env python3
"""Compares the API of the four packages with spec/api.toml and writes spec/api.md, for `make api`.

    make api                        writes the page; says what differs without a reason
    make api ARGS=--check           writes nothing: a page that is not what would be written fails
    make api ARGS="--check ruby"    one package alone, and not the page

Each language is asked by its own means (tools/api_table/read_*). A difference has a reason in
spec/api.toml, and a reason that nothing needs fails as well.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from api_table import table as spec
from api_table.compare import Compared, compare, needless, unexplained
from api_table.package import LANGUAGES, TITLES
from api_table.page import page
from api_table.readers import Unreadable, read
from runner.counts import Counts

ROOT = Path(__file__).resolve().parent.parent
SPEC = ROOT / "spec" / "api.toml"
PAGE = ROOT / "spec" / "api.md"


def main(arguments: Sequence[str]) -> int:
    checks = "--check" in arguments
    chosen = [one for one in arguments if one != "--check"]
    unknown = set(chosen) - set(LANGUAGES)
    if unknown:
        sys.exit(f"no package of {' '.join(sorted(unknown))}; there are {' '.join(LANGUAGES)}")
    try:
        table = spec.read(SPEC.read_text())
    except spec.Malformed as error:
        sys.exit(str(error))
    counts = Counts()
    packages = []
    for language in chosen or LANGUAGES:
        try:
            packages.append(compare(table, read(language, ROOT)))
        except Unreadable as error:
            counts += _told(f"the package of {TITLES[language]} can be read", [str(error)])
    counts += report(table, packages)
    if len(packages) == len(LANGUAGES):
        counts += written(page(table, packages), checks)
    print(counts)
    return 1 if counts.failed else 0


def report(table: spec.Table, packages: Sequence[Compared]) -> Counts:
    """One test for each package, and one for its reasons."""
    counts = Counts()
    for package in packages:
        title = TITLES[package.language]
        without = [str(one) for one in unexplained(table, [package])]
        counts += _told(f"{title} differs only where a reason says so", without)
        counts += _told(f"every reason of {title} is needed", needless(table, [package]))
    return counts


def written(text: str, checks: bool) -> Counts:
    what = f"{PAGE.relative_to(ROOT)} is what the packages say"
    if checks:
        is_current = PAGE.exists() and PAGE.read_text() == text
        return _told(what, [] if is_current else ["it is stale: run `make api`"])
    PAGE.write_text(text)
    return _told(what, [])


def _told(what: str, problems: Sequence[str]) -> Counts:
    for problem in problems:
        print(problem, flush=True)
    print(f"{'FAILED ' if problems else 'passed '} {what}", flush=True)
    return Counts(failed=1) if problems else Counts(passed=1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
