"""Projects that have the npm package, as its users' have it. The tests of the package load this by
its name, as a plugin of pytest."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import run
from npm_registry import Registry
from npm_runtimes import HERE, NPM, QUIET, ROOT, install

Packaged = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def registry(packaged: Packaged) -> Iterator[Registry]:
    """Has both packages. Also sees to it that the runtimes are there."""
    main = packaged("typescript", "polycache-[0-9]*.tgz")
    native = packaged("typescript", "polycache-linux-*.tgz")
    subprocess.run([ROOT / "tools/setup.sh", "node", "node22", "bun"], check=True)
    with Registry([main, native]) as running:
        yield running


@pytest.fixture(scope="module")
def user(registry: Registry, shared_project: Path) -> Path:
    """A project that has the package and nothing else, but for the programs of the tests."""
    install(shared_project, registry)
    return shared_project


@pytest.fixture(scope="module")
def developer(registry: Registry, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has the package beside compiler, test runners and bundler."""
    folder = tmp_path_factory.mktemp("developer")
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(HERE / "npm" / name, folder)
    run([NPM, "ci", *QUIET], folder)
    install(folder, registry, "--no-save")
    return folder
