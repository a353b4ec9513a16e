"""What each language's reader finds in a small made-up package: nothing that differs, and then
each difference that is planted in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import made_up
import pytest

from api_table import read_rust, readers
from api_table import table as spec
from api_table.compare import compare, needless, unexplained
from api_table.package import package

ROOT = Path(__file__).resolve().parents[2]
COMPILER = ROOT / "typescript" / "node_modules" / "typescript"


class MadeUp:
    """A package in a folder of its own."""

    def __init__(self, language: str, folder: Path) -> None:
        self.language = language
        self.folder = folder
        for name, text in made_up.FILES[language].items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def change(self, old: str, new: str) -> None:
        files = [self.folder / name for name in made_up.FILES[self.language]]
        changed = [file for file in files if old in file.read_text()]
        assert changed, f"nothing says {old!r}"
        for file in changed:
            file.write_text(file.read_text().replace(old, new))

    def problems(self, reasons: str = "") -> list[str]:
        table = spec.read(made_up.TABLE + made_up.REASONS[self.language] + reasons)
        compared = [compare(table, package(self.language, self.read()))]
        return [*map(str, unexplained(table, compared)), *needless(table, compared)]

    def read(self):
        if self.language == "rust":
            return read_rust.read(self.folder / "doc", self.folder)
        return readers.READERS[self.language](self.folder)


@pytest.fixture(params=["rust", "typescript", "python", "ruby"])
def made(request, tmp_path: Path) -> MadeUp:
    if request.param == "ruby" and shutil.which("ruby") is None:
        pytest.skip("no Ruby here")
    made = MadeUp(request.param, tmp_path)
    if request.param == "typescript":
        if shutil.which("node") is None or not COMPILER.exists():
            pytest.skip("no TypeScript here")
        (tmp_path / "typescript" / "node_modules").symlink_to(COMPILER.parent)
    return made


def test_nothing_differs_and_then_each_difference_that_is_planted(made: MadeUp) -> None:
    assert made.problems() == []
    expected: list[str] = []
    for old, new, told in made_up.PLANTED[made.language]:
        made.change(old, new)
        expected += told
    problems = made.problems()
    for one in expected:
        assert len([problem for problem in problems if one in problem]) == 1, (one, problems)
    assert len(problems) == len(expected), problems


def test_a_reason_that_the_package_does_not_need_is_found(made: MadeUp) -> None:
    claim = f'{made.language} = ["cache.methods.get missing"]'
    [told] = made.problems(f'\n[[reason]]\nwhy = "It is not needed."\n{claim}\n')
    assert f"nothing needs {claim} any more" in told


def test_a_package_that_cannot_be_read_says_what_its_language_says(made: MadeUp) -> None:
    if made.language in ("rust", "typescript"):
        pytest.skip("pages and sources are read, not run")
    made.change("PolycacheError" if made.language == "python" else "class Error", "1 +")
    with pytest.raises(readers.Unreadable, match=r"SyntaxError|syntax error"):
        made.read()
