#!/usr/bin/env python3
"""Runs the formatters (checking only) and linters of every language; `make lint` calls it.

    make lint                       everything
    make lint CHECKS="ruff mypy"    only these

Each check counts as one test. Start it through make, which puts the tools' folder on PATH.

Not lefthook or pre-commit: they would hold the same commands, which are most of this file. They do
not install what a check needs, do not count a language that is missing as skipped, and are one more
tool to install before the first check.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from runner.counts import Counts
from runner.run import MISSING

ROOT = Path(__file__).resolve().parent.parent


# For checks in typescript/: its packages, installed when the lock file changed.
NPM = "make --no-print-directory -C .. typescript-packages && "


@dataclass(frozen=True)
class Check:
    name: str
    command: str
    need: str = ""
    folder: str = "."


CHECKS = [
    Check(
        "rustfmt",
        "cargo fmt --all --check && for manifest in bench/*/rust/Cargo.toml; do "
        "cargo fmt --all --check --manifest-path $manifest || exit 1; done",
    ),
    # In release, so that build scripts and procedural macros are those the build has already made.
    Check(
        "clippy",
        "packages=$(tools/build.sh --packages) && "
        "cargo clippy --release $packages --all-targets -- -D warnings",
    ),
    Check("deny", "tools/deny.sh", "deny"),
    Check("biome", NPM + "npx biome ci --error-on-warnings .", "node", "typescript"),
    Check("tsc", NPM + "npx tsc --noEmit", "node", "typescript"),
    Check(
        "biome-examples",
        NPM + "npx biome ci --error-on-warnings --config-path=. ../examples ../checks ../bench "
        "../tools",
        "node",
        "typescript",
    ),
    Check(
        "tsc-examples",
        NPM
        + "../examples/http/setup.sh && npx tsc --noEmit -p ../examples && npx tsc -p ../checks",
        "node",
        "typescript",
    ),
    Check(
        "ruff-tools",
        # Not from a cache: what an import is depends on folders that it does not look at.
        "ruff check --no-cache tools model bench examples checks && "
        "ruff format --check tools model bench examples checks",
        "python",
    ),
    Check("ruff", "ruff check --no-cache . && ruff format --check .", "python", "python"),
    Check(
        "mypy-tools",
        "bench/report/setup.sh && MYPYPATH=tools:bench:bench/report mypy --strict tools/*.py "
        "tools/runner tools/command_table tools/api_table && "
        "MYPYPATH=tools:checks/namespace mypy --strict checks/namespace/run.py && "
        "MYPYPATH=python/src mypy --strict checks/namespace/worker.py && "
        "MYPYPATH=tools:checks/packages mypy --strict checks/packages && "
        "MYPYPATH=python/src:python/tests:checks/production mypy --strict checks/production && "
        "MYPYPATH=model mypy --strict model/*.py",
        "python",
    ),
    Check(
        "mypy-bench",
        "bench/report/setup.sh && MYPYPATH=bench mypy --strict bench/harness bench/all.py && "
        "for file in bench/*/run.py; do "
        "MYPYPATH=bench:$(dirname $file) mypy --strict $file || exit 1; done && "
        "mypy --strict bench/host/python/lib && mypy --strict bench/serve && "
        "MYPYPATH=bench:bench/disk mypy --strict bench/disk/growth.py && "
        "MYPYPATH=bench/disk:bench/serve mypy --strict bench/disk/diskbench && "
        "MYPYPATH=bench/serve:python/src mypy --strict bench/namespace/python/lib",
        "python",
    ),
    Check(
        "mypy-examples",
        "MYPYPATH=examples/demo:python/src mypy --strict examples/*.py examples/demo/demo.py "
        "examples/demo/driver examples/demo/sample examples/demo/workers/worker.py && "
        "MYPYPATH=examples/http:examples/demo mypy --strict examples/http/demo.py "
        "examples/http/serving && "
        "MYPYPATH=python/src mypy --strict checks/workers/worker.py",
        "python",
    ),
    Check("mypy", "mypy --strict src tests", "python", "python"),
    Check("rubocop", "rubocop --display-style-guide ruby bench examples checks tools", "ruby"),
    Check("shell", "for file in $(git ls-files '*.sh') .ci/run; do bash -n $file || exit 1; done"),
]


def run(check: Check) -> Counts:
    print(f"\n--- {check.name}: {check.command}", flush=True)
    if check.need:
        code = subprocess.call([ROOT / "tools/setup.sh", check.need])
        if code == MISSING:
            print(f"{check.name}: skipped, no {check.need} here", flush=True)
            return Counts(skipped=1)
        if code:
            return Counts(failed=1)
    if subprocess.call(["bash", "-c", check.command], cwd=ROOT / check.folder) == 0:
        return Counts(passed=1)
    print(f"{check.name}: FAILED", flush=True)
    return Counts(failed=1)


def main(names: list[str]) -> int:
    unknown = set(names) - {check.name for check in CHECKS}
    if unknown:
        sys.exit(f"no such check: {' '.join(sorted(unknown))}")
    chosen = [check for check in CHECKS if not names or check.name in names]
    results = {check.name: run(check) for check in chosen}
    failed = [name for name, counts in results.items() if counts.failed]
    if failed:
        print(f"\nfailed: {' '.join(failed)}")
    print(sum(results.values(), Counts()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
