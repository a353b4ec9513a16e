"""Lets the tests import what bench/report/run.py imports, and the made-up results beside them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS.parent.parent)]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with made-up results of every benchmark but host, and an unknown one."""
    import made_up

    folder = tmp_path_factory.mktemp("results")
    made_up.write(folder)
    lines = made_up.lines("of-tomorrow", [made_up.row("w", "a-peer", "get", "widgets", 3)])
    (folder / "of-tomorrow.jsonl").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="session")
def pages(results: Path) -> dict[str, str]:
    """By file name."""
    from report_page import figures, page

    return page.render(figures.load(results))


@pytest.fixture(scope="session")
def html(pages: dict[str, str]) -> str:
    """All pages, one after the other."""
    return "".join(pages.values())
