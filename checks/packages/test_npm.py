"""The npm package in a project that has nothing else: on Node 22, Node 24 and Bun, in both kinds of
modules, with worker threads, behind a server, and beside a second process."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Running, run
from npm_registry import Registry
from npm_runtimes import NPM, QUIET, RUNTIMES, TOOLS, say

pytest_plugins = ["npm_projects"]


def test_npm_installs_the_native_part_of_this_platform(user: Path) -> None:
    assert sorted(os.listdir(user / "node_modules/@polycache")) == ["linux-x64-gnu"]
    native = json.loads((user / "node_modules/@polycache/linux-x64-gnu/package.json").read_text())
    main = json.loads((user / "node_modules/polycache/package.json").read_text())
    assert (native["os"], native["cpu"], native["libc"]) == (["linux"], ["x64"], ["glibc"])
    assert main["optionalDependencies"] == {native["name"]: native["version"]}
    assert not {"os", "cpu", "libc", "scripts"} & main.keys()
    binaries = [file.name for file in (user / "node_modules/polycache").rglob("*.node")]
    assert binaries == []


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("program", ["esm.mjs", "commonjs.cjs", "threads.mjs"])
def test_a_program(runtime: str, program: str, user: Path, tmp_path: Path) -> None:
    # V8 may abort in a worker thread on processors with protection keys, which is its own fault.
    flags = [] if runtime == "bun" else ["--no-memory-protection-keys"]
    assert say(runtime, user, *flags, program, tmp_path / "cache") == "ok"


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_first_program_of_the_readme(
    runtime: str, user: Path, tmp_path: Path, readme: Callable[[str, str], list[str]]
) -> None:
    # In a folder of its own below the project, because it caches in `.cache`.
    for place, code in enumerate(readme("README.md", ".ts")):
        folder = user / f"readme-{runtime}-{place}"
        folder.mkdir()
        (folder / "package.json").write_text('{ "type": "module" }')
        (folder / "first.ts").write_text(code)
        # Node 22 of today strips types by itself.
        assert say(runtime, folder, "first.ts")


def test_without_a_registry_the_tarballs_are_enough(
    registry: Registry, project: Path, tmp_path: Path
) -> None:
    (project / "package.json").write_text('{ "private": true }')
    run([NPM, "install", "--offline", *QUIET, *map(str, registry.tarballs)], project)
    program = "console.log(new (require('polycache').Cache)({ path: process.argv[1] }).path)"
    path = str(tmp_path / "cache")
    assert say("node24", project, "-e", program, path) == path


def test_bun_installs_it_too(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{ "private": true }')
    add = ["add", "polycache", "--no-cache", f"--registry={registry.address}"]
    run([str(TOOLS / "bun"), *add], tmp_path)
    assert os.listdir(tmp_path / "node_modules/@polycache") == ["linux-x64-gnu"]


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_server_and_a_second_process(runtime: str, user: Path, tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with Running([RUNTIMES[runtime], "server.mjs", path], user) as server:
        address = f"http://127.0.0.1:{server.line()}/home"
        for _ in range(3):
            with urllib.request.urlopen(address, timeout=60) as response:
                assert json.load(response) == {"url": "/home", "rendered": 1}
        printed = say("node24", user, "second.mjs", path, "pages", "/home")
        assert json.loads(printed) == {"url": "/home", "rendered": 1}


READS = """
import json, sys, polycache
path, namespace, key = sys.argv[1:]
print(json.dumps(polycache.Cache(path, namespace=namespace).get(key)))
"""


def test_a_second_process_in_python(
    user: Path, tmp_path: Path, packaged: Callable[[str, str], Path]
) -> None:
    wheel = packaged("python", "polycache-*.whl")
    path, modules = tmp_path / "cache", tmp_path / "modules"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    run([*pip, "--target", str(modules), str(wheel)], tmp_path)
    say("node24", user, "commonjs.cjs", path)
    read = [sys.executable, "-c", READS, str(path), "shop", "ada"]
    printed = run(read, tmp_path, {"PYTHONPATH": str(modules)}).stdout
    assert json.loads(printed) == {"name": "Ada"}
