"""The gems, installed into empty GEM_HOMEs: from sources, compiled, and without a compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import Running, run
from command_table import start
from native import check_library
from programs import check_command, check_control_c, check_reader_that_stops

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.findall(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[0]

Packaged = Callable[[str, str], Path]
Readme = Callable[[str, str], list[str]]


@dataclass(frozen=True)
class Project:
    """A user's project, whose gems are in a GEM_HOME of its own."""

    folder: Path
    env: dict[str, str]

    def run(self, *arguments: str | Path, code: int = 0) -> str:
        return run(["ruby", *arguments], self.folder, self.env, code=code).stdout

    @property
    def gem(self) -> Path:
        (found,) = (self.folder / "gems/gems").glob("polycache-*")
        return found

    @property
    def command(self) -> Path:
        return self.folder / "gems/bin/polycache"


def installed(folder: Path, gem: Path, during: dict[str, str], **always: str) -> Project:
    """A project with that gem. `during` is the environment while it is installed."""
    project = Project(folder, {"GEM_HOME": str(folder / "gems"), **always})
    command: list[str | Path] = ["gem", "install", "--local", "--no-document", gem]
    run(command, folder, {**project.env, **during}, timeout=900)
    return project


def nothing_but_ruby(folder: Path) -> str:
    """A PATH on which there is Ruby, and no compiler, no make, no cargo."""
    folder.mkdir()
    for name in ("ruby", "gem", "env"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return str(folder)


@pytest.fixture(scope="module")
def sources(packaged: Packaged) -> Path:
    return packaged("ruby", f"polycache-{VERSION}.gem")


@pytest.fixture(scope="module")
def compiled(
    sources: Path, cargo: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """The sources, compiled as they were installed."""
    return installed(tmp_path_factory.mktemp("compiled"), sources, cargo)


@pytest.fixture(scope="module")
def prebuilt(packaged: Packaged, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The gem for this platform, where nothing can be compiled."""
    gem = packaged("ruby", f"polycache-{VERSION}-*.gem")
    folder = tmp_path_factory.mktemp("prebuilt")
    return installed(folder, gem, {"PATH": nothing_but_ruby(folder / "bin")})


@pytest.fixture(scope="module")
def pure(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The sources, installed where there is no compiler."""
    folder = tmp_path_factory.mktemp("pure")
    return installed(folder, sources, {"PATH": nothing_but_ruby(folder / "bin")})


@pytest.fixture(params=["compiled", "prebuilt"])
def project(request: pytest.FixtureRequest) -> Project:
    found: Project = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize("document", ["README.md", "ruby/README.md"])
def test_the_snippets_of_the_readme_run(project: Project, readme: Readme, document: str) -> None:
    for number, code in enumerate(readme(document, ".rb")):
        folder = project.folder / f"{document.replace('/', '-')}-{number}"
        folder.mkdir()
        (folder / "snippet.rb").write_text(code)
        said = run(["ruby", "-W", "snippet.rb"], folder, project.env)
        assert str(project.gem) not in said.stderr, f"warnings:\n{said.stderr}"


def test_the_native_library_is_there_once_and_stripped(project: Project) -> None:
    found = [file for file in (project.folder / "gems").rglob("*.so") if file.is_file()]
    assert len(found) == 1, found
    assert found[0].is_relative_to(project.gem / "lib/polycache")
    sections = run(["readelf", "--wide", "--sections", found[0]], project.folder).stdout
    assert ".symtab" not in sections
    assert not list(project.gem.rglob("target")), "what cargo left behind"


def test_the_prebuilt_library_runs_on_older_systems(prebuilt: Project, packaged: Packaged) -> None:
    packaged("zig", f"polycache-{VERSION}-*.gem")  # Without Zig it needs this machine's glibc.
    (library,) = prebuilt.gem.rglob("*.so")
    check_library(library)


def test_a_second_process_reads_what_the_first_wrote(project: Project) -> None:
    opened = 'require "polycache"; cache = Polycache::Cache.new(path: "shared", namespace: "shop");'
    project.run("-e", opened + 'cache.set("user", { "visits" => 41 }, ttl: "1h")')
    assert project.run("-e", opened + 'puts cache.get("user")["visits"] + 1') == "42\n"


HANDLER = """
require "polycache"
require "socket"

cache = Polycache::Cache.new(path: "web", namespace: "pages")
loads = 0
server = TCPServer.new("127.0.0.1", 0)
puts server.addr[1]
$stdout.flush
loop do
  Thread.new(server.accept) do |client|
    path = client.gets.split[1]
    nil until client.gets.strip.empty?
    body = cache.fetch(path, ttl: "5m") { "load #{loads += 1}" }
    client.write "HTTP/1.1 200 OK\\r\\nContent-Length: #{body.bytesize}\\r\\n"
    client.write "Connection: close\\r\\n\\r\\n#{body}"
    client.close
  end
end
"""


def test_an_http_handler_loads_once(project: Project) -> None:
    (project.folder / "app.rb").write_text(HANDLER)
    with Running(["ruby", "app.rb"], project.folder, project.env) as server:
        port = int(server.line())

        def get(path: str) -> str:
            # Not through a proxy that the machine may have.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://127.0.0.1:{port}{path}", timeout=60) as response:
                return str(response.read().decode())

        pages = [get("/a"), get("/a"), get("/b"), get("/a")]
        assert pages == ["load 1", "load 1", "load 2", "load 1"]


def test_the_command_comes_with_it(project: Project) -> None:
    folder = project.folder / "command"
    folder.mkdir()
    check_command([project.command], folder, project.env, VERSION)
    fill = (
        'require "polycache"; c = Polycache::Cache.new(path: "command/.cache", namespace: "many");'
        '3000.times { |i| c.set(format("%050d", i), 1) }'
    )
    project.run("-e", fill)
    check_reader_that_stops([project.command], folder, project.env)
    check_control_c([project.command], folder, project.env)


def test_memory_needs_no_compiler(pure: Project, readme: Readme) -> None:
    memory = [code for code in readme("ruby/README.md", ".rb") if "polycache/memory" in code]
    assert memory
    for code in memory:
        pure.run("-W", "-e", code)
    alone = 'require "polycache"; p Polycache::Cache.new.fetch("k", ttl: "5m") { [1] }'
    assert pure.run("-e", alone) == "[1]\n"
    assert not list((pure.folder / "gems").rglob("*.so"))


def test_a_path_without_a_compiler_says_what_to_do(pure: Project) -> None:
    code = 'require "polycache"; Polycache::Cache.new(path: "x")'
    said = run(["ruby", "-e", code], pure.folder, pure.env, code=1).stderr
    assert "Polycache::UnsupportedPlatform" in said
    assert "gem install polycache --platform ruby" in said
    said = run([pure.command, "stats"], pure.folder, pure.env, code=4).stderr
    assert said.startswith("polycache: the command needs the native extension")
    assert "Rust" in said


@pytest.mark.parametrize("platform", ["arm64-darwin24", "x64-mingw-ucrt"])
def test_other_platforms_get_what_is_pure(
    sources: Path, tmp_path: Path, cargo: dict[str, str], platform: str
) -> None:
    # A Ruby that says it runs there, though cargo is here.
    pretend = tmp_path / "pretend.rb"
    pretend.write_text(
        f"Object.send(:remove_const, :RUBY_PLATFORM)\nRUBY_PLATFORM = '{platform}'\n"
    )
    project = installed(tmp_path, sources, cargo, RUBYOPT=f"-r{pretend}")
    assert not list((tmp_path / "gems").rglob("*.so"))
    memory = 'require "polycache"; p Polycache::MemoryCache.new.fetch("k") { 1 }'
    assert project.run("-e", memory) == "1\n"
    said = run([project.command, "stats"], tmp_path, project.env, code=4).stderr
    assert f"There is none for {platform}" in said


def test_a_compile_that_fails_is_no_success(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    fails = tmp_path / "bin/cargo"
    # New enough, and fails at anything else.
    fails.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "cargo 1.85.0"\n')
    fails.chmod(0o755)
    env = {"GEM_HOME": str(tmp_path / "gems"), "PATH": f"{fails.parent}:{os.environ['PATH']}"}
    install = ["gem", "install", "--local", "--no-document", str(sources)]
    said = run(install, tmp_path, env, code=1)
    assert "the native extension did not compile" in said.stdout + said.stderr
    run(install, tmp_path, {**env, "POLYCACHE_WITHOUT_EXTENSION": "1"})


@pytest.fixture
def redis() -> Iterator[int]:
    """The port of a server of the test's own."""
    for need in ("servers", "clients"):
        if subprocess.call([ROOT / "tools/setup.sh", need]) == 3:
            pytest.skip(f"no {need} of Redis here")
    with start.running(start.PROGRAMS[0]) as port:
        yield port


def test_a_namespace_needs_no_compiler(pure: Project, redis: int) -> None:
    tools = Path(os.environ.get("POLYCACHE_TOOLS") or ROOT / "target/tools")
    debian = tools / "debian/trixie/usr"
    gems = [str(path) for path in debian.glob("share/rubygems-integration/all/gems/*/lib")]
    library = os.pathsep.join([*gems, str(debian / "lib/ruby/vendor_ruby")])
    code = f"""
      require "polycache"
      require "redis"
      shop = Polycache::Redis::Namespace.new(:shop, redis: Redis.new(port: {redis}))
      shop.set("user:1", "Ada")
      custom = {{ namespace: "shop" }}
      middlewares = [Polycache::RedisNamespace]
      config = RedisClient.config(port: {redis}, middlewares: middlewares, custom: custom)
      client = config.new_client
      p shop.keys, client.call("GET", "user:1"), Redis.new(port: {redis}).keys
    """
    said = run(["ruby", "-e", code], pure.folder, {**pure.env, "RUBYLIB": library}).stdout
    assert said.splitlines() == ['["user:1"]', '"Ada"', '["shop:user:1"]']


def test_the_types_are_valid(pure: Project) -> None:
    # It comes with Ruby, though not always as a command on PATH.
    rbs: list[str | Path] = [
        "ruby",
        "-e",
        'load Gem.bin_path("rbs", "rbs")',
        "--",
        "-I",
        pure.gem / "sig",
    ]
    run([*rbs, "validate", "--silent"], pure.folder)
