#!/usr/bin/env python3
"""Checks what changed: formatting, lints, types, and the tests nearest to the change. `make check`
calls it. Where everything is built it takes less than two minutes; `make test` runs the rest.

    make check                  what this branch and the working tree change
    make check SINCE=HEAD~3     what changed since a commit

Start it through make, which puts the tools' folder on PATH.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import lint
from run_tests import MINITEST
from runner.run import MISSING

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Step:
    """A command for bash. Steps without a need run where `make build` has run."""

    name: str
    command: str
    need: str = ""
    folder: str = "."


# Where a changed file stands, and the names of the checks of lint.py that concern it.
LINTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("*.rs", ("rustfmt", "clippy")),
    ("Cargo.toml", ("rustfmt", "clippy")),
    ("typescript/", ("biome", "tsc")),
    ("examples/*.ts", ("biome-examples", "tsc-examples")),
    ("checks/*.ts", ("biome-examples", "tsc-examples")),
    ("bench/*.ts", ("biome-examples",)),
    ("python/*.py", ("ruff", "mypy")),
    ("python/*.pyi", ("ruff", "mypy")),
    ("tools/*.py", ("ruff-tools", "mypy-tools")),
    ("model/*.py", ("ruff-tools", "mypy-tools")),
    ("checks/*.py", ("ruff-tools", "mypy-tools")),
    ("bench/*.py", ("ruff-tools", "mypy-bench")),
    ("examples/*.py", ("ruff-tools", "mypy-examples")),
    ("*.rb", ("rubocop",)),
    ("*.sh", ("shell",)),
)
CONFORMANCE = (
    Step("conformance-rust", "cargo test --profile assertions -p polycache --test conformance"),
    Step("conformance-typescript", "npx vitest run conformance", "node", "typescript"),
    Step("conformance-python", "pytest -q tests/test_conformance.py", "python", "python"),
    Step("conformance-ruby", f"{MINITEST} ruby/test/conformance_test.rb", "ruby"),
)


def matches(file: str, pattern: str) -> bool:
    """Whether a file stands below a folder (`python/`), or there by its ending (`python/*.py`)."""
    folder, star, ending = pattern.partition("*")
    if not star:
        return file.startswith(pattern) if pattern.endswith("/") else Path(file).name == pattern
    return file.startswith(folder) and file.endswith(ending)


def lints(files: Iterable[str]) -> list[Step]:
    names = {
        name for file in files for pattern, of in LINTS if matches(file, pattern) for name in of
    }
    return [
        Step(check.name, check.command, check.need, check.folder)
        for check in lint.CHECKS
        if check.name in names
    ]


def crate_of(file: str, root: Path) -> str | None:
    """The crate of the workspace that a file belongs to; None for those of `bench/` that are
    workspaces of their own."""
    for folder in PurePosixPath(file).parents:
        manifest = root / folder / "Cargo.toml"
        if str(folder) != "." and manifest.exists():
            told = tomllib.loads(manifest.read_text())
            return None if "workspace" in told else str(told["package"]["name"])
    return None


def tests(files: Sequence[str], root: Path) -> list[Step]:
    def under(*folders: str) -> list[str]:
        return [file for file in files if file.startswith(folders) and (root / file).exists()]

    steps = []
    if changed := under("tools/"):
        steps.append(Step("tools", "pytest -q -p no:asyncio tools/tests", "python"))
    rust = [file for file in files if file.endswith((".rs", "Cargo.toml"))]
    crates = sorted({crate for file in rust if (crate := crate_of(file, root))})
    # What an interpreter loads can only be tested by it.
    own = [crate for crate in crates if crate not in EXTENSIONS]
    if own:
        flags = " ".join(f"-p {crate}" for crate in own)
        steps.append(Step("rust", f"cargo test --profile assertions --tests {flags}"))
    if changed := [file for file in under("typescript/src/", "typescript/test/") if is_ts(file)]:
        related = " ".join(file.removeprefix("typescript/") for file in changed)
        steps.append(
            Step("typescript", f"npx vitest related --run {related}", "node", "typescript")
        )
    if under("python/"):
        steps.append(Step("python", "pytest -q", "python", "python"))
    if changed := under("ruby/"):
        found = "find ruby/test -maxdepth 1 -name '*_test.rb'"
        steps.append(Step("ruby", f"{MINITEST} $({found})", "ruby"))
        if any("memory" in file for file in changed):
            steps.append(Step("ruby-memory", f"{MINITEST} ruby/test/memory/*_test.rb", "ruby"))
        if any("redis" in file for file in changed):
            command = f"{MINITEST} ruby/test/redis_namespace/*_test.rb"
            steps.append(Step("ruby-namespace", command, "ruby"))
        if any("remote" in file for file in changed):
            command = f"{MINITEST} ruby/test/remote_client/*_test.rb"
            steps.append(Step("ruby-clients", command, "ruby"))
    if under("spec/conformance/", "spec/vectors/"):
        steps += CONFORMANCE
    pages = [
        file for file in under("docs/", "README.md", "CONTRIBUTING.md") if file.endswith(".md")
    ]
    if under("examples/http/", "typescript/src/http/", "typescript/src/reads/"):
        command = "make --no-print-directory typescript-dist && "
        command += "pytest -q -p no:asyncio examples/http/tests"
        steps.append(Step("http-examples", command, "node"))
    if pages or under("examples/"):
        steps.append(Step("docs", f"python tools/run_docs.py {' '.join(pages)}".strip(), "python"))
    return steps


EXTENSIONS = ("polycache-node", "polycache-python", "polycache-ruby")
# Their tests load an extension, or the command.
RUBY = ("ruby", "ruby-memory", "ruby-clients")
LOADING = ("typescript", "python", *RUBY, "docs", "http-examples", *(s.name for s in CONFORMANCE))


def is_ts(file: str) -> bool:
    return file.endswith((".ts", ".mts"))


def plan(files: Sequence[str], root: Path = ROOT) -> list[Step]:
    """What to run for these changed files, given relative to the repository; deleted ones too."""
    found = tests(files, root)
    build = [Step("build", "make --no-print-directory build")]
    first = build if any(step.name in LOADING for step in found) else []
    return lints(files) + first + found


def changed(since: str) -> list[str]:
    """Files that differ from where this branch left `since`, and those that git does not know."""
    base = git("merge-base", "HEAD", since)[0]
    return sorted(
        {*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")}
    )


def git(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"check: git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def upstream() -> str:
    """The branch that changes go to: the remote's, or a local main."""
    for name in ("origin/HEAD", "origin/main", "main"):
        known = ["git", "rev-parse", "--verify", "--quiet", name]
        if subprocess.run(known, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode == 0:
            return name
    return "HEAD"


def run(step: Step) -> tuple[str, float]:
    print(f"\n--- {step.name}: {step.command}", flush=True)
    started = time.monotonic()
    if step.need:
        code = subprocess.call([ROOT / "tools/setup.sh", step.need])
        if code == MISSING:
            return f"skipped, no {step.need} here", time.monotonic() - started
    code = subprocess.call(["bash", "-c", step.command], cwd=ROOT / step.folder)
    return "FAILED" if code else "ok", time.monotonic() - started


def main(arguments: Sequence[str]) -> int:
    since = arguments[0] if arguments else upstream()
    files = changed(since)
    if not files and not arguments:
        since = "HEAD~1"
        files = changed(since)
    steps = plan(files)
    print(f"check: {len(files)} files changed since {since}: {len(steps)} steps")
    results = [(step.name, *run(step)) for step in steps]
    print()
    for name, result, seconds in results:
        print(f"{name:24}{seconds:6.0f} s   {result}")
    print(f"{'all':24}{sum(seconds for _, _, seconds in results):6.0f} s")
    return 1 if any(result == "FAILED" for _, result, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
