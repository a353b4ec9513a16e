"""That the pages show the figures of the results files."""

from __future__ import annotations

from pathlib import Path

import pytest

import figures

CURRENT = figures.current()


@pytest.mark.parametrize(
    ("page", "name"), CURRENT, ids=[f"{page.name}-{name}" for page, name in CURRENT]
)
def test_a_page_shows_the_figures_of_the_results_files(page: Path, name: str) -> None:
    shown = figures.marked(name).findall(page.read_text())
    assert shown == [CURRENT[page, name]], "run `make readme`"
