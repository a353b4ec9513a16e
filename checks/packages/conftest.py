"""What the tests of the packages share. They use what `make package` made, as a stranger would:
in empty folders outside the checkout."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "target/package"
# Written by tools/package.sh: a line for each language that cannot be packaged on this machine, and
# `zig` when natives need a glibc as new as its own.
LEFT_OUT = PACKAGES / "left-out"

sys.path.insert(0, str(ROOT / "tools"))
from run_docs import snippets  # noqa: E402 (the folder has to be named first)


@pytest.fixture(scope="session")
def packaged() -> Callable[[str, str], Path]:
    """`packaged("python", "polycache-*.whl")`: the one package with that name. Skips when the
    language was left out of `make package` here, and fails when the package is not there."""

    def find(language: str, pattern: str) -> Path:
        if LEFT_OUT.exists() and language in LEFT_OUT.read_text().split():
            pytest.skip(f"make package did without {language} on this machine")
        found = sorted(PACKAGES.glob(pattern))
        assert len(found) == 1, f"make package should have made one {pattern}, not {found}"
        return found[0]

    return find


@pytest.fixture
def project() -> Iterator[Path]:
    """An empty folder for a user's project, with a short path, which goes away."""
    with tempfile.TemporaryDirectory(prefix="polycache-project-") as folder:
        yield Path(folder).resolve()


@pytest.fixture(scope="module")
def shared_project() -> Iterator[Path]:
    """As `project`, one for all tests of a file: for what takes long to install."""
    with tempfile.TemporaryDirectory(prefix="polycache-project-") as folder:
        yield Path(folder).resolve()


@pytest.fixture(scope="session")
def cargo() -> dict[str, str]:
    """What packages that compile are given: one folder and one profile, so that the second one
    compiles again only what is its own, and no optimization: they shall compile and work."""
    target = os.environ.get("CARGO_TARGET_DIR") or str(ROOT / "target")
    return {
        "CARGO_BUILD_BUILD_DIR": f"{target}/of-packages",
        "CARGO_TARGET_DIR": f"{target}/of-packages",
        "CARGO_PROFILE_RELEASE_DEBUG": "0",
        "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    }


@pytest.fixture(scope="session")
def readme() -> Callable[[str, str], list[str]]:
    """`readme("README.md", ".py")`: the document's runnable snippets in that language."""

    def find(document: str, suffix: str) -> list[str]:
        every = snippets(document, (ROOT / document).read_text())
        found = [one.code for one in every if one.suffix == suffix and not one.skipped]
        assert found, f"{document} has no snippet for {suffix}"
        return found

    return find
