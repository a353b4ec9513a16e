#!/usr/bin/env python3
"""Plants one fault at a time and shows that a check finds it; `make mutants` calls it.

    make mutants                     every fault
    make mutants MUTANTS="name"      only these
    tools/run_mutants.py --quick     those marked quick

A fault is a file tools/mutants/<name>.patch: a few header lines, an empty line, then a patch.

    Fault: a delete during a load does not invalidate the lease
    Build: cargo test --release -p polycache-host --no-run
    Found by: cargo test --release -p polycache-host --test leases
    Also found by: cargo test --release -p polycache-simulation --test seeds
    Quick: yes

It passes when `Build` succeeds and `Found by` then fails, and `Also found by` where there is one.
The checks must also pass without the fault, or their failing would show nothing. All this happens
in a copy of the sources under target/.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from runner.console import to_stdout
from runner.counts import Counts
from runner.process import run

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = ROOT / "tools" / "mutants"
WORK = ROOT / "target" / "mutants"
TIMEOUT = 600.0


@dataclass(frozen=True)
class Mutant:
    name: str
    fault: str
    build: str
    found_by: tuple[str, ...]
    quick: bool
    patch: str


def parse(name: str, text: str) -> Mutant:
    head, _, patch = text.partition("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    missing = {"Fault", "Build", "Found by"} - set(fields)
    if missing or not patch.strip():
        raise ValueError(f"{name}: no {', '.join(sorted(missing)) or 'patch after the header'}")
    quick = fields.get("Quick") == "yes"
    checks = tuple(fields[field] for field in ("Found by", "Also found by") if field in fields)
    return Mutant(name, fields["Fault"], fields["Build"], checks, quick, patch)


def copy_sources(source: Path, tree: Path) -> None:
    """Copies what git knows and what has changed, so that cargo compiles only that.

    A file that is copied is as new as the copy: with its own time it could be older than what was
    compiled of it while it had a fault.
    """
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=source, text=True)
    wanted = [name for name in listed.split("\0") if name and (source / name).is_file()]
    for name in wanted:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if not (tree / name).is_file() or not filecmp.cmp(source / name, tree / name, False):
            shutil.copy(source / name, tree / name)
    # What an earlier run left and git no longer knows would still be compiled.
    for file in [file for file in tree.rglob("*") if file.is_file()]:
        if str(file.relative_to(tree)) not in set(wanted) | {"Cargo.lock"}:
            file.unlink()


class Trial:
    """Runs mutants in `tree`; the answer of `try_mutant` is "" or why the fault was not found."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.sound: dict[str, bool] = {}

    def try_mutant(self, mutant: Mutant) -> str:
        for check in mutant.found_by:
            if not self._is_sound(check):
                return f"the check fails without the fault too: {check}"
        if not self._patch(mutant.patch):
            return "the patch does not apply any more"
        try:
            if self._run(mutant.build) != 0:
                return "it does not compile, which no check can take credit for"
            for check in mutant.found_by:
                if self._run(check) == 0:
                    return f"survived: {check}"
            return ""
        finally:
            self._patch(mutant.patch, "--reverse")

    def _is_sound(self, check: str) -> bool:
        if check not in self.sound:
            self.sound[check] = self._run(check) == 0
        return self.sound[check]

    def _run(self, command: str) -> int:
        print(f"$ {command}", flush=True)
        return run(command, self.tree, to_stdout, TIMEOUT).code

    def applies(self, mutant: Mutant) -> bool:
        return self._run_patch(mutant.patch, "--dry-run") == 0

    def _patch(self, patch: str, *options: str) -> bool:
        if self._run_patch(patch, "--dry-run", *options) != 0:
            return False
        return self._run_patch(patch, *options) == 0

    def _run_patch(self, patch: str, *options: str) -> int:
        command = ["patch", "-p1", "--fuzz=0", "--batch", "--no-backup-if-mismatch", "-r", "-"]
        return subprocess.run(
            [*command, *options], cwd=self.tree, input=patch, text=True
        ).returncode


def choose(names: list[str]) -> list[Mutant]:
    mutants = [parse(file.stem, file.read_text()) for file in sorted(MUTANTS.glob("*.patch"))]
    if names == ["--quick"]:
        return [mutant for mutant in mutants if mutant.quick]
    unknown = set(names) - {mutant.name for mutant in mutants}
    if unknown:
        sys.exit(f"no such mutant: {' '.join(sorted(unknown))}")
    return [mutant for mutant in mutants if not names or mutant.name in names]


def main(names: list[str]) -> int:
    os.environ["CARGO_TARGET_DIR"] = str(WORK / "target")
    tree = WORK / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    copy_sources(ROOT, tree)
    trial = Trial(tree)
    reasons: dict[str, str] = {}
    for mutant in choose(names):
        print(f"\n=== {mutant.name}: {mutant.fault}", flush=True)
        reasons[mutant.name] = trial.try_mutant(mutant)
    print()
    for name, reason in reasons.items():
        print(f"{'FAILED' if reason else 'found '}  {name}{': ' if reason else ''}{reason}")
    failed = sum(1 for reason in reasons.values() if reason)
    print(Counts(passed=len(reasons) - failed, failed=failed))
    return 1 if failed or not reasons else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
