"""Every benchmark builds on a clean clone: its lock file fits what it is built from.

A stale lock file makes `cargo build --locked` fail, and the target had no rows of its subjects.
"""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CARGO = sorted(ROOT.glob("bench/*/rust/Cargo.lock"))
NPM = sorted(
    path for path in ROOT.glob("bench/**/package-lock.json") if "node_modules" not in path.parts
)


def name(path: Path) -> str:
    return str(path.parent.relative_to(ROOT))


def test_there_are_lock_files() -> None:
    assert len(CARGO) >= 4
    assert len(NPM) >= 4
    manifests = {path.parent for path in ROOT.glob("bench/*/rust/Cargo.toml")}
    # The main workspace has one lock file for all its members.
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    assert manifests - {ROOT / member for member in members} == {path.parent for path in CARGO}


@pytest.mark.parametrize("lock", CARGO, ids=name)
def test_cargo_has_nothing_to_change(lock: Path) -> None:
    manifest = lock.with_name("Cargo.toml")
    # It asks the index only; nothing is downloaded or compiled.
    done = subprocess.run(
        ["cargo", "update", "--workspace", "--locked", "--manifest-path", manifest],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_stale_lock_file_is_found(tmp_path: Path) -> None:
    lock = CARGO[0]
    shutil.copytree(lock.parent, tmp_path / "rust")
    stale = tmp_path / "rust" / "Cargo.toml"
    text = stale.read_text().replace('path = "../../../', f'path = "{ROOT}/')
    stale.write_text(text.replace("[dependencies]", '[dependencies]\nitoa = "=1.0.0"', 1))
    with pytest.raises(AssertionError, match="lock"):
        test_cargo_has_nothing_to_change(tmp_path / "rust" / "Cargo.lock")


@pytest.mark.parametrize("lock", NPM, ids=name)
def test_npm_lists_what_package_json_names(lock: Path) -> None:
    if not shutil.which("npm"):
        pytest.skip("no npm here")
    done = subprocess.run(
        ["npm", "ls", "--package-lock-only", "--depth=0"],
        cwd=lock.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
