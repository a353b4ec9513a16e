"""The wheel and the sdist, installed into empty projects of every Python that is here."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Running, run
from native import check_library
from programs import check_command, check_control_c, check_reader_that_stops

VERSIONS = ["3.11", "3.12", "3.13"]

Packaged = Callable[[str, str], Path]
Readme = Callable[[str, str], list[str]]


def interpreter(version: str) -> str | None:
    """A Python of that version that can make environments: on PATH, of pyenv, or of uv."""
    places = [f"python{version}"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        root = Path(subprocess.check_output(["pyenv", "root"], text=True).strip())
        places += [str(file) for file in root.glob(f"versions/{version}.*/bin/python{version}")]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        found = subprocess.check_output(
            ["uv", "python", "find", "--no-python-downloads", version], text=True, stderr=-3
        )
        places.append(found.strip())
    # A shim of pyenv is there for versions that are not switched on, so each is asked.
    asked = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for place in places:
        with contextlib.suppress(OSError):
            done = subprocess.run([place, "-c", asked], capture_output=True, text=True)
            if done.stdout.strip() == version:
                return place
    return None


class Project:
    """A user's project: an environment with the wheel in it."""

    def __init__(self, folder: Path, version: str, wheel: Path) -> None:
        found = interpreter(version)
        if found is None:
            pytest.skip(f"no Python {version} with venv and ensurepip here")
        self.folder = folder
        self.python = folder / "venv/bin/python"
        self.command = folder / "venv/bin/polycache"
        run([found, "-m", "venv", "venv"], folder)
        self.pip("install", "--no-index", wheel)

    def pip(self, *arguments: str | Path) -> None:
        run(
            [self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments],
            self.folder,
        )

    def run(self, code: str) -> str:
        return run([self.python, "-c", code], self.folder).stdout


@pytest.fixture(scope="module", params=VERSIONS)
def project(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    packaged: Packaged,
) -> Project:
    folder = tmp_path_factory.mktemp(f"python{request.param}")
    return Project(folder, request.param, packaged("python", "polycache-*.whl"))


@pytest.mark.parametrize("document", ["README.md", "python/README.md"])
def test_the_snippets_of_the_readme_run(project: Project, readme: Readme, document: str) -> None:
    for number, code in enumerate(readme(document, ".py")):
        folder = project.folder / f"{document.replace('/', '-')}-{number}"
        folder.mkdir()
        (folder / "snippet.py").write_text(code)
        run([project.python, "-W", "error", "snippet.py"], folder)


def test_a_second_process_reads_what_the_first_wrote(project: Project) -> None:
    opened = 'import polycache; cache = polycache.Cache("shared", namespace="shop");'
    project.run(opened + "cache.set('user', {'name': 'Ada', 'visits': 41}, ttl='1h')")
    assert project.run(opened + "print(cache.get('user')['visits'] + 1)") == "42\n"


HANDLER = """
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polycache

cache = polycache.Cache("web", namespace="pages")
loads = 0


def load() -> dict[str, int]:
    global loads
    loads += 1
    return {"loads": loads}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(cache.get_or_set(self.path, load, ttl="5m")).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def test_an_http_handler_loads_once(project: Project) -> None:
    (project.folder / "app.py").write_text(HANDLER)
    with Running([project.python, "app.py"], project.folder) as server:
        port = int(server.line())

        def get(path: str) -> str:
            # Not through a proxy that the machine may have.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://127.0.0.1:{port}{path}", timeout=60) as response:
                return str(response.read().decode())

        assert [get("/a"), get("/a"), get("/b"), get("/a")] == [
            '{"loads": 1}',
            '{"loads": 1}',
            '{"loads": 2}',
            '{"loads": 1}',
        ]


def test_the_command_comes_with_it(project: Project) -> None:
    folder = project.folder / "command"
    folder.mkdir()
    check_command([project.command], folder)
    check_command([project.python, "-m", "polycache"], folder)
    fill = "import polycache; c = polycache.Cache('command/.cache', namespace='many');"
    project.run(fill + "[c.set(f'{i:050}', 1) for i in range(3000)]")
    check_reader_that_stops([project.command], folder)
    check_control_c([project.command], folder)


def test_version_and_files(project: Project, packaged: Packaged) -> None:
    said = project.run("import polycache; print(polycache.__version__, polycache.__file__)").split()
    assert packaged("python", "polycache-*.whl").name.split("-")[1] == said[0]
    assert Path(said[1]).is_relative_to(project.folder)
    with zipfile.ZipFile(packaged("python", "polycache-*.whl")) as files:
        licences = {Path(name).name for name in files.namelist() if "/licenses/" in name}
    assert licences == {"LICENSE-MIT", "LICENSE-APACHE"}


def test_the_native_part_runs_on_older_systems(packaged: Packaged, tmp_path: Path) -> None:
    # Without Zig it needs this machine's glibc.
    wheel = packaged("zig", "polycache-*.whl")
    assert "-abi3-manylinux_2_28_" in wheel.name
    with zipfile.ZipFile(wheel) as files:
        natives = [name for name in files.namelist() if name.endswith(".so")]
        assert len(natives) == 1
        check_library(Path(files.extract(natives[0], tmp_path)))


USER = """
import asyncio
from collections.abc import Callable

import polycache


def page(cache: polycache.Cache, load: Callable[[], str]) -> str:
    return cache.get_or_set("page", load, ttl="5m")


async def pages(cache: polycache.AsyncCache) -> bool:
    await cache.set("page", "text", ttl=60)
    return await cache.delete("page")


def stored(cache: polycache.Cache) -> bytes:
    with cache.open("file", "w", ttl=60) as file:
        file.write("text")
    with cache.open("file") as read:
        return read.read()


@polycache.cached(100, ttl="1h")
def area(width: int, height: int = 2) -> int:
    return width * height


users = polycache.MemoryCache[str, int](max_entries=10)
users["ada"] = area(3)
print(polycache.__version__, page, asyncio.run, pages, stored, polycache.NoSpace.code)
"""
WRONG = 'import polycache\n\npolycache.Cache(".cache").set(1, 2)\n'


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory, packaged: Packaged) -> Project:
    """One project for what does not depend on Python's version."""
    folder = tmp_path_factory.mktemp("python")
    wheel = packaged("python", "polycache-*.whl")
    return Project(folder, next(filter(interpreter, VERSIONS), VERSIONS[0]), wheel)


def test_types_by_mypy(newest: Project) -> None:
    (newest.folder / "user.py").write_text(USER)
    (newest.folder / "wrong.py").write_text(WRONG)
    mypy: list[str | Path] = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        newest.python,
    ]
    run([*mypy, "user.py"], newest.folder)
    said = run([*mypy, "wrong.py"], newest.folder, code=1).stdout
    assert "wrong.py:3" in said
    assert "Found 1 error" in said or "Found 2 errors" in said


def test_types_by_pyright(newest: Project) -> None:
    root = Path(__file__).resolve().parents[2]
    if subprocess.call([root / "tools/setup.sh", "pyright"]) == 3:
        pytest.skip("pyright cannot be installed here")
    tools = Path(os.environ.get("POLYCACHE_TOOLS") or root / "target/tools")
    node, pyright = tools / "bin/node", tools / "pyright/node_modules/pyright/index.js"
    command: list[str | Path] = [node, pyright, "--pythonpath", newest.python]
    (newest.folder / "user.py").write_text("# pyright: strict\n" + USER)
    (newest.folder / "wrong.py").write_text(WRONG)
    run([*command, "user.py"], newest.folder)
    assert "wrong.py:3" in run([*command, "wrong.py"], newest.folder, code=1).stdout


def test_redis_namespaces(newest: Project) -> None:
    import redis

    newest.pip("install", f"redis=={redis.__version__}")
    code = (
        "import redis, sys; from polycache.redis_namespace import namespaced;"
        "shop = namespaced(redis.Redis(), 'shop');"
        "print(isinstance(shop, redis.Redis), 'polycache._native' in sys.modules)"
    )
    assert newest.run(code).split() == ["True", "False"]


def test_the_sdist_builds(newest: Project, packaged: Packaged, cargo: dict[str, str]) -> None:
    if not shutil.which("cargo"):
        pytest.skip("no cargo here")
    sdist = packaged("python", "polycache-*.tar.gz")
    # With the maturin of this environment, instead of one of its own each time.
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"]
    build: list[str | Path] = [*pip, "--no-build-isolation", "--wheel-dir", "built", sdist]
    run(build, newest.folder, cargo, timeout=900)
    (wheel,) = (newest.folder / "built").glob("polycache-*.whl")
    newest.pip("install", "--no-index", "--force-reinstall", wheel)
    newest.run("import polycache; polycache.Cache('of-sdist').set('k', 1)")
