"""The crates, used as a stranger would: from the .crate files alone, in an empty project.

They are in no registry here, so the project says by `[patch]` where they were unpacked. What they
depend on is fetched once, by the checkout's lock file; the project itself is built offline.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "target/package"
PROGRAMS = Path(__file__).parent / "crates"
CRATES = [
    "polycache",
    "polycache-cli",
    "polycache-derive",
    "polycache-entry",
    "polycache-host",
    "polycache-http",
    "polycache-json",
    "polycache-memory",
    "polycache-operations",
    "polycache-redis-namespace",
    "polycache-remote",
    "polycache-serve",
]
# What a user writes into Cargo.toml for the programs in the folder crates/.
DEPENDENCIES = """
polycache = { version = "0.1", features = ["derive"] }
polycache-memory = "0.1"
polycache-redis-namespace = "0.1"
redis = { version = "1.8", default-features = false }
"""

sys.path.insert(0, str(ROOT / "tools"))
from run_docs import snippets  # noqa: E402 (the folder has to be named first)


class Project:
    """A stranger's project: a folder with programs, and cargo."""

    def __init__(self, folder: Path, cargo: dict[str, str]) -> None:
        self.folder = folder
        self.environment = {**os.environ, **cargo, "CARGO_NET_OFFLINE": "true"}

    def run(self, command: list[str | Path]) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def program(self, name: str) -> Path:
        return Path(self.environment["CARGO_TARGET_DIR"], "release", name)


def readme_snippet() -> str:
    found = snippets("README.md", (ROOT / "README.md").read_text())
    return next(one.code for one in found if one.suffix == ".rs" and not one.skipped)


def configure(folder: Path, crates: dict[str, Path]) -> None:
    """Cargo finds these crates from this folder on."""
    patches = "".join(
        f"{name} = {{ path = {json.dumps(str(path))} }}\n" for name, path in crates.items()
    )
    (folder / ".cargo").mkdir()
    (folder / ".cargo/config.toml").write_text(f"[patch.crates-io]\n{patches}")


@pytest.fixture(scope="module")
def unpacked() -> Iterator[dict[str, Path]]:
    """Each crate's own folder, outside the checkout."""
    with tempfile.TemporaryDirectory(prefix="polycache-crates-") as folder:
        found = {}
        for name in CRATES:
            # polycache-*.crate is also what polycache-cli's is called.
            packed = list(PACKAGES.glob(f"{name}-[0-9]*.crate"))
            assert len(packed) == 1, f"make package should have made one {name}, not {packed}"
            with tarfile.open(packed[0]) as archive:
                # Debian 12 has Python 3.11.2, which is older than filters. We made the archive.
                if hasattr(tarfile, "data_filter"):
                    archive.extractall(folder, filter="data")
                else:
                    archive.extractall(folder)
            found[name] = Path(folder, packed[0].stem)
        # `cargo install --path` is configured where the crate lies.
        configure(Path(folder), found)
        yield found


@pytest.fixture(scope="module")
def project(unpacked: dict[str, Path], cargo: dict[str, str]) -> Iterator[Project]:
    """A project that was empty, with our programs, built."""
    with tempfile.TemporaryDirectory(prefix="polycache-project-") as name:
        folder = Path(name).resolve()
        (folder / "src/bin").mkdir(parents=True)
        (folder / "src/bin/readme.rs").write_text(readme_snippet())
        for program in PROGRAMS.glob("*.rs"):
            shutil.copy(program, folder / "src/bin")
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "stranger"\nversion = "1.0.0"\nedition = "2021"\n'
            f"[dependencies]{DEPENDENCIES}"
        )
        configure(folder, unpacked)
        # The versions that the checkout was built with are those that are here.
        shutil.copy(ROOT / "Cargo.lock", folder)
        subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=ROOT, check=True)
        made = Project(folder, cargo)
        made.run(["cargo", "build", "--quiet", "--release", "--bins"])
        yield made


@pytest.mark.parametrize("name", CRATES)
def test_a_crate_holds_what_it_needs_and_nothing_of_the_checkout(
    unpacked: dict[str, Path], name: str
) -> None:
    manifest = (unpacked[name] / "Cargo.toml").read_text()
    # A path would point out of the package.
    dependencies = manifest.partition("[dependencies")[2]
    assert '\npath = "../' not in dependencies
    for line in ("description", "license", "rust-version"):
        assert f"\n{line} = " in manifest, line
    assert (unpacked[name] / "src").is_dir()


def test_the_readmes_snippet_runs(project: Project) -> None:
    project.run([project.program("readme")])
    assert (project.folder / ".cache/v2/index").is_file()


def test_a_cache_in_memory_only(project: Project) -> None:
    assert project.run([project.program("memory")]) == "loaded once: 42\n"
    assert not list(project.folder.glob("memory*"))


def test_a_second_process_reads_what_the_first_wrote(project: Project) -> None:
    assert project.run([project.program("pair"), "write"]) == "user:7 is Ada\n"
    assert project.run([project.program("pair"), "read"]) == "user:7 is Ada\n"


def test_an_http_handler_answers_from_the_cache(project: Project) -> None:
    server = subprocess.Popen(
        [project.program("http"), "5"], cwd=project.folder, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        address = server.stdout.readline().strip()
        answers = [
            urllib.request.urlopen(f"http://{address}/{page}", timeout=30).read().decode()
            for page in ("a", "b", "a", "a", "b")
        ]
        assert answers == ["page /a, load 1", "page /b, load 2"] + ["page /a, load 1"] * 2 + [
            "page /b, load 2"
        ]
        assert server.wait(timeout=30) == 0
    finally:
        server.kill()
        server.wait()


def test_a_redis_namespace(project: Project) -> None:
    assert project.run([project.program("namespace")]) == "GET shop:user:1\n"


def test_the_command_installs(project: Project, unpacked: dict[str, Path]) -> None:
    root = project.folder / "installed"
    install: list[str | Path] = ["cargo", "install", "--quiet", "--root", root]
    project.run([*install, "--path", unpacked["polycache-cli"]])
    command = root / "bin/polycache"
    assert project.run([command, "--version"]) == "polycache 0.1.0\n"
    # The cache that `pair` may have made is another one.
    project.run([command, "-d", ".by-command", "set", "k", "v"])
    assert project.run([command, "-d", ".by-command", "get", "--raw", "k"]) == "v"
    assert "complete" in project.run([command, "completions", "bash"])
