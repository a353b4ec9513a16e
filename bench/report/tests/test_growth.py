"""The picture of stores that grow."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import made_up
import pytest

from harness import results
from report_page import figures
from report_page.charts import standalone
from report_page.growth import curves
from report_page.growth_picture import picture

PICTURE = Path(__file__).resolve().parents[3] / "docs" / "disk-growth.svg"
SET, EVICTED = ("SET", "µs per operation"), ("evicted", "% of the entries")


def grown(*rows: tuple[int, str, tuple[str, str], float]) -> figures.Results:
    made = [
        made_up.row(f"{entries} entries, 100 bytes each", subject, *operation, median)
        for entries, subject, operation, median in rows
    ]
    return figures.parse("disk-growth", made_up.lines("disk-growth", made))


TWO = grown(
    (10_000, "polycache", SET, 1),
    (10_000, "lmdb", SET, 5),
    (10_000_000, "polycache", SET, 2),
    (10_000_000, "lmdb", SET, 7),
)


def test_a_curve_goes_from_the_fewest_entries_to_the_most() -> None:
    ours, theirs = curves(TWO)
    assert ours.points == [(10_000, 1), (10_000_000, 2)]
    assert (ours.grew, ours.is_ours) == (2, True)
    assert (theirs.subject, theirs.grew) == ("lmdb", 1.4)


def test_the_picture_stands_alone() -> None:
    svg = picture(TWO)
    root = ElementTree.fromstring(svg)
    style = root.findtext("{http://www.w3.org/2000/svg}style") or ""
    assert "--ours: #" in style
    assert "prefers-color-scheme: dark" in style
    assert "--won" not in style, "nothing in it has this colour"
    assert "SET (µs per operation): polycache from 1.00 at 10k to 2.00 at 10M" in svg
    assert {one for one in standalone.names(svg) if f"--{one}:" not in style} == set()


def test_one_size_and_what_only_ours_has_are_not_drawn() -> None:
    assert picture(grown((10_000, "polycache", SET, 1), (10_000, "lmdb", SET, 1))) == ""
    ours = [(size, "polycache", EVICTED, 0.01) for size in (10_000, 100_000)]
    assert picture(grown(*ours)) == ""
    assert picture(grown()) == ""


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="no picture"):
        standalone.file("<p>text</p>")


def test_the_page_has_the_picture_of_the_results_file() -> None:
    path = results.path("disk-growth")
    drawn = picture(figures.read(path)) if path.exists() else ""
    shown = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
    assert shown == drawn, "run `make readme`"
