#!/usr/bin/env python3
"""Runs what the documentation shows: the code blocks of the READMEs and of docs/, and the programs
in examples/; and the commands of CONTRIBUTING.md that run one test. `tools/run_docs.py
docs/python.md` runs those of some pages.

Blocks in Rust, TypeScript, Python and Ruby are run one by one, each in an empty folder of its own,
so a block has to be complete; blocks of shell too, where every command is `polycache`. A block that
cannot run carries a reason in the line before it: `<!-- not run: needs a Redis server -->`. One
that needs more than its language says so, `<!-- needs: rails -->`, and is skipped where
tools/setup.sh cannot install that.

In examples/ every .rs, .ts, .py and .rb file runs, except those whose name starts with `_` (parts
of others) and those in a folder with a `run.sh`, which runs them. An example passes when it exits
with 0. Those in Rust are programs of examples/Cargo.toml, which `make build` compiles.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from runner import contributing
from runner.counts import Counts

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["python/README.md", "typescript/README.md", "ruby/README.md"]
CONTRIBUTING = "CONTRIBUTING.md"
EXAMPLES = ROOT / "examples"
BUILT = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"

# How the file of each language is run, and the set-up it needs.
LANGUAGES = {
    ".rs": ([], ""),
    ".ts": (["node"], "node"),
    ".py": (["python"], "python"),
    ".rb": (["ruby"], "ruby"),
    ".sh": (["bash", "-e"], ""),
}
FENCES = {
    "rust": ".rs",
    "ts": ".ts",
    "typescript": ".ts",
    "python": ".py",
    "ruby": ".rb",
    "sh": ".sh",
}
# Of blocks of shell only these run: others install, start servers or belong to a reader's machine.
COMMANDS = re.compile(r"(#.*|polycache .*)?$")

BLOCK = re.compile(
    r"^(?:<!-- (?:not run: (?P<reason>.+?)|needs: (?P<need>\w+)) -->\n)?"
    r"```(?P<fence>\w+)\n(?P<code>.*?)^```$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Snippet:
    name: str
    suffix: str
    code: str
    skipped: str = ""
    # A name that tools/setup.sh knows.
    need: str = ""


def snippets(name: str, text: str) -> Iterator[Snippet]:
    for block in BLOCK.finditer(text):
        suffix = FENCES.get(block["fence"])
        if suffix == ".sh" and not all(map(COMMANDS.match, block["code"].splitlines())):
            continue
        if suffix:
            line = text.count("\n", 0, block.start("fence")) + 1
            told = (block["reason"] or "", block["need"] or "")
            yield Snippet(f"{name}:{line}", suffix, block["code"], *told)


def documents() -> list[str]:
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return ["README.md", *PACKAGES, *(str(page.relative_to(ROOT)) for page in pages)]


def run_snippet(snippet: Snippet) -> Counts:
    if snippet.skipped:
        print(f"skipped {snippet.name}: {snippet.skipped}", flush=True)
        return Counts(skipped=1)
    with tempfile.TemporaryDirectory(prefix="polycache-docs-") as folder:
        # Modules, so that a TypeScript block may await at its top level.
        Path(folder, "package.json").write_text('{ "type": "module" }')
        file = Path(folder, "snippet" + snippet.suffix)
        file.write_text(snippet.code)
        return run_file(snippet.name, file, Path(folder), snippet.need)


def run_file(name: str, file: Path, folder: Path, extra: str = "") -> Counts:
    interpreter, language = LANGUAGES[file.suffix]
    for need in filter(None, (language, extra)):
        if not is_set_up(need):
            print(f"skipped {name}: no {need} here", flush=True)
            return Counts(skipped=1)
    if file.suffix == ".ts":
        if not typescript_is_built():
            print(f"FAILED  {name}: make typescript-dist failed", flush=True)
            return Counts(failed=1)
        link_package(folder)
    command = [*interpreter, str(file)] if interpreter else rust_command(file)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "POLYCACHE_ROOT": str(ROOT), "PATH": f"{BUILT}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    if done.returncode == 0:
        print(f"passed  {name}", flush=True)
        return Counts(passed=1)
    print(f"FAILED  {name} (exit code {done.returncode})\n{done.stdout}", flush=True)
    return Counts(failed=1)


def rust_command(file: Path) -> list[str]:
    """An example is built already; a snippet is compiled against the crate as it was built."""
    if file.is_relative_to(EXAMPLES):
        return [str(BUILT / f"example-{file.stem.replace('_', '-')}")]
    program = file.with_suffix("")
    compiler = ["rustc", "--edition=2021", "--extern", f"polycache={BUILT / 'libpolycache.rlib'}"]
    options = ["-L", f"dependency={BUILT / 'deps'}", "-o", str(program), str(file)]
    return ["bash", "-c", '"$@" && exec "$0"', str(program), *compiler, *options]


def once(function: Callable[..., bool]) -> Callable[..., bool]:
    """Called by one of all threads for each argument; the others wait for its answer."""
    cached, lock = functools.cache(function), threading.Lock()

    def locked(*arguments: str) -> bool:
        with lock:
            return cached(*arguments)

    return locked


@once
def is_set_up(need: str) -> bool:
    return subprocess.call([ROOT / "tools/setup.sh", need]) == 0


@once
def typescript_is_built() -> bool:
    """Here instead of before the run: a machine without Node runs the rest."""
    command = ["make", "--silent", "--no-print-directory", "typescript-dist"]
    return subprocess.call(command, cwd=ROOT, stdout=sys.stderr) == 0


def link_package(folder: Path) -> None:
    """Makes `import ... from 'polycache'` find the package of this checkout."""
    modules = folder / "node_modules"
    modules.mkdir(exist_ok=True)
    link = modules / "polycache"
    if not link.is_symlink():
        link.symlink_to(ROOT / "typescript")
        # Its peer, and the SDK of that.
        peers = "@opentelemetry"
        (modules / peers).symlink_to(ROOT / "typescript" / "node_modules" / peers)


def examples(folder: Path) -> list[Path]:
    return [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix in LANGUAGES
        and not file.name.startswith("_")
        and "node_modules" not in file.parts
        and not _has_runner(file, folder)
    ]


def _has_runner(file: Path, top: Path) -> bool:
    return any((at / "run.sh").exists() for at in file.parents if at.is_relative_to(top))


def main(names: list[str]) -> int:
    found = [
        snippet
        for name in names or documents()
        for snippet in snippets(name, (ROOT / name).read_text())
    ]
    # Most of a snippet's time is its interpreter's start.
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        results = list(threads.map(run_snippet, found))
    for file in [] if names else examples(EXAMPLES):
        results.append(run_file(str(file.relative_to(ROOT)), file, file.parent))
    if not names or CONTRIBUTING in names:
        results.append(contributing.run(ROOT))
    counts = sum(results, Counts())
    print(counts)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
