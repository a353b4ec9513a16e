"""The one library built for Python 3.11 on each later version that is here, under threads."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))


def interpreter(version: str) -> str | None:
    """A Python of that version: this one, pyenv's, or one on the path."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    found = sorted(PYENV.glob(f"versions/{version}.*/bin/python{version}"))
    name = str(found[-1]) if found else shutil.which(f"python{version}")
    if name is None:
        return None
    # What stands on the path may be a stub for a version that was not installed.
    works = subprocess.run([name, "--version"], capture_output=True, check=False)
    return name if works.returncode == 0 else None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_threads(version: str) -> None:
    name = interpreter(version)
    if name is None:
        pytest.skip(f"there is no Python {version} here")
    paths = {"PYTHONPATH": str(TESTS.parent / "src")}
    run = subprocess.run(
        [name, str(TESTS / "stress_memory.py"), "4000"],
        env=os.environ | paths,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "ok\n"
