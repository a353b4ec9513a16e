"""The npm package where it has no native part: it installs, and what is pure JavaScript works."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import run
from npm_registry import Registry
from npm_runtimes import RUNTIMES, VERSION, install

pytest_plugins = ["npm_projects"]

# What npm is told, and what the program is made to believe.
ELSEWHERE = {
    "darwin-arm64": ["--os=darwin", "--cpu=arm64"],
    "win32-x64": ["--os=win32", "--cpu=x64"],
    "linux-arm64-gnu": ["--os=linux", "--cpu=arm64", "--libc=glibc"],
    "linux-x64-musl": ["--os=linux", "--cpu=x64", "--libc=musl"],
}
PURE = "A cache without a path, polycache/memory and polycache/redis-namespace work here too."


@pytest.mark.parametrize("platform", ELSEWHERE)
def test_another_platform(platform: str, registry: Registry, project: Path) -> None:
    install(project, registry, *ELSEWHERE[platform])
    assert not list((project / "node_modules").rglob("*.node"))
    for runtime in RUNTIMES:
        words = [RUNTIMES[runtime], "--require", "./pretend.cjs", "elsewhere.mjs", "cache"]
        said = run(words, project, {"PRETEND": platform}).stdout
        assert f"there is none for {platform}: it is built for linux-x64-gnu. {PURE}" in said
    assert not (project / "cache").exists()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_left_out_by_the_user(runtime: str, registry: Registry, project: Path) -> None:
    install(project, registry, "--omit=optional")
    said = run([RUNTIMES[runtime], "elsewhere.mjs", "cache"], project).stdout
    assert "@polycache/linux-x64-gnu: it is not installed" in said
    assert f"npm install @polycache/linux-x64-gnu@{VERSION}" in said and PURE in said


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_damaged(runtime: str, registry: Registry, project: Path) -> None:
    install(project, registry)
    native = project / "node_modules/@polycache/linux-x64-gnu/polycache.node"
    native.unlink()
    native.write_text("not a library")
    said = run([RUNTIMES[runtime], "elsewhere.mjs", "cache"], project).stdout
    assert "polycache's native part for linux-x64-gnu does not load" in said and PURE in said


def test_of_another_version(registry: Registry, project: Path) -> None:
    install(project, registry)
    loader = project / "node_modules/polycache/native/load.cjs"
    loader.write_text(loader.read_text().replace(f"VERSION = '{VERSION}'", "VERSION = '9.9.9'"))
    said = run([RUNTIMES["node24"], "elsewhere.mjs", "cache"], project).stdout
    assert f"needs @polycache/linux-x64-gnu 9.9.9, and found {VERSION}" in said
