"""The command `polycache` that comes with the npm package."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
from pathlib import Path

import pytest
from command import environment, run
from npm_registry import Registry
from npm_runtimes import RUNTIMES, TOOLS, install

pytest_plugins = ["npm_projects"]

SCRIPT = "node_modules/polycache/bin/polycache.cjs"


@pytest.fixture
def cache(user: Path, tmp_path: Path) -> Path:
    """A directory with more keys than a pipe holds."""
    path = tmp_path / "cache"
    program = (
        "const cache = new (require('polycache').Cache)({ path: process.argv[1] });"
        "for (let i = 0; i < 20_000; i++) cache.setSync(`a-key-of-some-length-${i}`, i)"
    )
    run([RUNTIMES["node24"], "-e", program, path], user)
    return path


@pytest.mark.parametrize("runner", [["npx"], ["bunx"], ["bunx", "--bun"]], ids=" ".join)
def test_it_runs(runner: list[str], user: Path, cache: Path) -> None:
    tool = [str(TOOLS / runner[0]), *runner[1:], "polycache"]
    assert run([*tool, "--version"], user).stdout == "polycache 0.1.0\n"
    stats = json.loads(run([*tool, "stats", "-d", cache, "--json"], user).stdout)
    assert stats["entries"] == 20_000
    value = "größe 🗝 'quoted' --"
    run([*tool, "set", "-d", cache, "--", "key", value], user)
    assert (
        json.loads(run([*tool, "get", "-d", cache, "key", "--json"], user).stdout)["value"] == value
    )
    run([*tool, "get", "-d", cache, "nothing"], user, code=1)
    run([*tool, "stats", "-d", cache.parent / "nowhere"], user, code=3)
    assert "Usage" in run([*tool, "nonsense"], user, code=2).stderr


def test_it_takes_a_value_from_its_input(user: Path, cache: Path) -> None:
    script = [RUNTIMES["node22"], SCRIPT]
    run([*script, "set", "-d", cache, "key", "-"], user, stdin="from the input")
    assert "from the input" in run([*script, "get", "-d", cache, "key"], user).stdout


def test_a_reader_that_has_enough_is_no_failure(user: Path, cache: Path) -> None:
    pipe = f"node {SCRIPT} keys -d {cache} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = run(["bash", "-c", pipe], user)
    assert done.stdout.splitlines()[1:] == ["0"]
    assert done.stderr == ""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_ctrl_c_ends_it(runtime: str, user: Path, cache: Path) -> None:
    # `clear` asks on a terminal, and waits for the answer.
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(user)
        program = RUNTIMES[runtime]
        os.execve(program, [program, SCRIPT, "clear", "-d", str(cache)], environment())
    said = b""
    while b"[y/N]" not in said:
        assert select.select([terminal], [], [], 60)[0], said
        said += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT
    stats = run([RUNTIMES["node24"], SCRIPT, "stats", "-d", str(cache), "--json"], user)
    assert json.loads(stats.stdout)["entries"] == 20_000


def test_without_a_native_part_it_says_so(registry: Registry, project: Path) -> None:
    install(project, registry, "--os=darwin", "--cpu=arm64")
    script = [RUNTIMES["node24"], SCRIPT, "stats", "-d", "cache"]
    plain = run(script, project, code=4).stderr
    assert plain.startswith("polycache: ") and "linux-x64-gnu" in plain
    error = json.loads(run([*script, "--json"], project, code=4).stderr)["error"]
    assert error["code"] == "unsupported_platform" and error["retryable"] is False


def test_arguments_are_taken_as_they_are_given(user: Path, tmp_path: Path) -> None:
    """Node shows bytes that are not UTF-8 as U+FFFD, which would be another key."""
    command = [RUNTIMES["node24"], SCRIPT]
    place = ["-d", str(tmp_path / "cache")]
    subprocess.run([*command, "set", *place, b"k\xff", "v"], cwd=user, check=True)
    keys = subprocess.run([*command, "keys", *place], cwd=user, check=True, capture_output=True)
    assert keys.stdout == b"hex:6bff\n"
    refused = subprocess.run(
        [*command, "set", *place, "k", b"v\xff"], cwd=user, capture_output=True
    )
    assert refused.returncode == 2 and b"UTF-8" in refused.stderr
