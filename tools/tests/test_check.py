"""What `make check` runs for which files."""

from __future__ import annotations

from pathlib import Path

import pytest

import check
import lint

ROOT = Path(__file__).resolve().parents[2]


def names(*files: str) -> list[str]:
    return [step.name for step in check.plan(files, ROOT)]


def command(name: str, *files: str) -> str:
    return next(step.command for step in check.plan(files, ROOT) if step.name == name)


def test_a_crate_is_linted_and_tested_by_itself() -> None:
    assert names("crates/host/src/lib.rs") == ["rustfmt", "clippy", "rust"]
    assert command("rust", "crates/host/src/lib.rs").endswith(" -p polycache-host")


def test_a_crate_of_a_benchmark_is_tested_here_where_it_is_a_member() -> None:
    assert command("rust", "bench/http/rust/src/main.rs").endswith(" -p polycache-bench-http")
    assert "rust" not in names("bench/codec/rust/src/lib.rs")


def test_a_language_is_built_before_its_tests() -> None:
    assert names("python/src/polycache/cache.py") == ["ruff", "mypy", "build", "python"]


def test_an_extension_has_no_test_program_of_its_own() -> None:
    assert names("ruby/ext/polycache/src/lib.rs") == ["rustfmt", "clippy", "build", "ruby"]


def test_typescript_runs_the_tests_that_import_what_changed() -> None:
    assert (
        command("typescript", "typescript/src/cache.ts") == "npx vitest related --run src/cache.ts"
    )


def test_a_deleted_test_is_not_run() -> None:
    assert names("typescript/test/that-is-gone.test.ts") == ["biome", "tsc"]


def test_conformance_runs_in_every_language() -> None:
    found = names(*(str(path.relative_to(ROOT)) for path in ROOT.glob("spec/conformance/*")))
    assert [name for name in found if name.startswith("conformance")] == [
        "conformance-rust",
        "conformance-typescript",
        "conformance-python",
        "conformance-ruby",
    ]


def test_only_the_pages_that_changed_are_executed() -> None:
    assert command("docs", "docs/python.md") == "python tools/run_docs.py docs/python.md"


def test_text_alone_needs_nothing() -> None:
    assert names("CHANGELOG.md", "spec/host.md") == []


@pytest.mark.parametrize("name", sorted({name for _, of in check.LINTS for name in of}))
def test_every_lint_exists(name: str) -> None:
    assert name in {found.name for found in lint.CHECKS}


def test_every_tracked_source_has_a_lint() -> None:
    sources = (".rs", ".py", ".pyi", ".rb", ".sh")
    tracked = [file for file in check.git("ls-files") if file.endswith(sources)]
    assert [file for file in tracked if not check.lints([file])] == []
