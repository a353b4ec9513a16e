"""CONTRIBUTING.md: its commands are found, and those of make exist. Section `docs` runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runner import contributing

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", *map(str, ROOT.glob("docs/*.md"))]


def test_one_test_in_each_language() -> None:
    found = dict(contributing.commands((ROOT / "CONTRIBUTING.md").read_text()))
    assert list(found) == ["Rust", "TypeScript", "Python", "Ruby"]


def test_a_page_without_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table"):
        list(contributing.commands("# Contributing\n"))


@pytest.mark.parametrize(
    "output",
    [
        "test result: ok. 1 passed; 0 failed; 0 ignored",
        "\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m20 passed\x1b[39m",
        "12 passed in 0.31s",
        "19 runs, 61 assertions, 0 failures, 0 errors, 0 skips",
    ],
)
def test_tests_that_ran(output: str) -> None:
    assert contributing.ran(output)


@pytest.mark.parametrize(
    "output",
    ["test result: ok. 0 passed; 0 failed; 30 filtered out", "0 runs, 0 assertions", "no tests"],
)
def test_a_filter_that_matches_nothing(output: str) -> None:
    assert not contributing.ran(output)


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make_exist(page: str) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"`make ([a-z0-9-]+)", (ROOT / page).read_text()))
    assert named <= targets
