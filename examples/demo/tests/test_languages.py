from __future__ import annotations

import sys

from driver.languages import BY_NAME, Language


def test_a_language_without_its_program_is_missing() -> None:
    assert Language("x", "X", ["no-such-program"], "", "").missing() == "no no-such-program here"


def test_a_language_without_its_extension_is_missing() -> None:
    language = Language("x", "X", [sys.executable], "", "no/such/*.so")
    assert language.missing() == "no/such/*.so is not built (make build)"


def test_what_needs_nothing_more_is_there() -> None:
    assert Language("x", "X", [sys.executable], "", "README.md").missing() == ""


def test_there_are_four_languages() -> None:
    assert list(BY_NAME) == ["rust", "typescript", "python", "ruby"]
