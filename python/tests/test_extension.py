"""What an import and the command say where the native extension is missing or unfit, and on a
Python that is too old."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import polycache

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of the package that has no extension."""
    source = ROOT / "python/src/polycache"
    ignored = shutil.ignore_patterns("_native.*.so", "__pycache__")
    shutil.copytree(source, tmp_path / "polycache", ignore=ignored)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "code",
    [
        "import polycache; polycache.Cache",
        "from polycache import MemoryCache",
        "from polycache.cache import Cache",
    ],
)
def test_a_missing_extension_says_what_to_do(copy: Path, code: str) -> None:
    done = run(copy, "-c", code)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: polycache cannot load its native extension for ")
    assert "it is not there" in last
    assert "pip install --force-reinstall polycache" in last


def test_what_needs_no_extension_works_without(copy: Path) -> None:
    code = "import polycache.redis_namespace; print(polycache.__version__, polycache.NoSpace.code)"
    done = run(copy, "-c", code)
    assert done.stdout == f"{polycache.__version__} no_space\n", done.stderr


def test_an_extension_that_cannot_be_loaded_says_why(copy: Path) -> None:
    (copy / "polycache/_native.abi3.so").write_bytes(b"no library")
    done = run(copy, "-c", "import polycache; polycache.Cache")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: polycache cannot load its native extension for ")
    assert "_native.abi3.so" in last


def test_the_command_without_the_extension_says_what_to_do(copy: Path) -> None:
    done = run(copy, "-m", "polycache", "--version")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("polycache: polycache cannot load its native extension")


def test_an_older_python_is_told(copy: Path) -> None:
    old = "import sys; sys.version_info = (3, 10, 13); import polycache"
    done = run(copy, "-c", old)
    assert "ImportError: polycache needs Python 3.11 or newer" in done.stderr


def test_the_version_is_that_of_all_languages() -> None:
    found = re.search(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    assert found
    assert polycache.__version__ == found[1]


def test_the_command_is_there() -> None:
    done = run(ROOT / "python/src", "-m", "polycache", "--version")
    assert done.stdout == f"polycache {polycache.__version__}\n"
