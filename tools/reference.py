#!/usr/bin/env python3
"""Makes the reference of each package from its own docstrings, by its language's own tool, into
target/reference: rustdoc, TypeDoc, pdoc and YARD. `make reference` calls it.

    make reference
    make reference ARGS="rust ruby"  only these
    make reference ARGS=--accept     writes the list below anew

A broken link fails, and so does a public item without documentation that is not listed in
reference_undocumented.txt: what was missing when this began may get less there, never more.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from runner.counts import Counts

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "reference"
TOOLS = Path(os.environ.get("POLYCACHE_TOOLS") or ROOT / "target" / "tools")
KNOWN = Path(__file__).with_name("reference_undocumented.txt")

CRATES = ("polycache", "polycache-memory", "polycache-derive", "polycache-redis-namespace")
# Not polycache-redis-namespace/aio, which the program that uses it gives a runtime.
# Without the package's name: polycache is a development dependency of itself, and `polycache/tokio`
# would be that one's feature.
FEATURES = "derive,metrics,reads,redis-cluster,redis-sentinel,remote,tokio,tracing"
MODULES = (
    "polycache",
    "polycache.arrays",
    "polycache.opentelemetry",
    "polycache.redis_namespace",
)
ENTRIES = (
    "src/index.ts",
    "src/http/index.ts",
    "src/reads/index.ts",
    "src/memory/index.ts",
    "src/opentelemetry.ts",
    "src/redis-namespace/index.ts",
)
# What a Ruby program names; the rest of lib/ is how it is done.
RUBY = (
    "polycache.rb",
    "polycache/cache.rb",
    "polycache/cache/many.rb",
    "polycache/errors.rb",
    "polycache/memoize.rb",
    "polycache/memory_cache.rb",
    "polycache/opentelemetry.rb",
    "polycache/uuid.rb",
    "polycache/version.rb",
    "polycache/redis_namespace.rb",
    "polycache/redis_namespace/command_builder.rb",
    "polycache/redis_namespace/redis_rb.rb",
)


@dataclass(frozen=True)
class Findings:
    """What a tool complained about. `undocumented` are names of public items."""

    problems: list[str] = field(default_factory=list)
    undocumented: set[str] = field(default_factory=set)


def run(command: Iterable[str | Path], folder: Path = ROOT, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        list(command),
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def rust() -> Findings:
    """The compiler itself denies what has no documentation (`missing_docs` in Cargo.toml)."""
    crates = [part for crate in CRATES for part in ("--package", crate)]
    command = ["cargo", "doc", "--release", "--quiet", "--no-deps", *crates, "--features", FEATURES]
    # A folder of its own, where the pages of older crates do not linger.
    code, said = run(command, RUSTDOCFLAGS="-D warnings", CARGO_TARGET_DIR=str(target()))
    link = OUT / "rust"
    link.unlink(missing_ok=True)
    link.symlink_to(target() / "doc")
    return Findings([said] if code else [])


def target() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")


UNDOCUMENTED_TS = re.compile(r"^\[warning\] (\S+).* defined in .*does not have any documentation$")


def typescript() -> Findings:
    command: list[str | Path] = ["node", TOOLS / "typedoc/node_modules/typedoc/bin/typedoc"]
    command += ["--tsconfig", "tsconfig.json", "--out", OUT / "typescript", "--name", "polycache"]
    command += [part for entry in ENTRIES for part in ("--entryPoints", entry)]
    command += ["--readme", "README.md", "--excludePrivate", "--excludeInternal", "--disableGit"]
    # Types that no entry point exports are described where they are used.
    command += ["--validation.notExported", "false", "--validation.notDocumented", "true"]
    command += ["--sourceLinkTemplate", "{path}#L{line}", "--gitRevision", "main"]
    code, said = run(command, ROOT / "typescript")
    return typedoc_said(code, said)


def typedoc_said(code: int, said: str) -> Findings:
    found = Findings()
    for line in said.splitlines():
        item = UNDOCUMENTED_TS.match(line)
        if item:
            found.undocumented.add(item[1].rstrip(","))
        elif line.startswith(("[warning]", "[error]")) and "Found 0 errors" not in line:
            found.problems.append(line)
    if code and not found.problems:
        found.problems.append(said)
    return found


def python() -> Findings:
    paths = os.pathsep.join([str(ROOT / "python" / "src"), str(TOOLS / "pdoc")])
    program = [sys.executable, "-c", PDOC, str(OUT / "python"), *MODULES]
    code, said = run(program, PYTHONPATH=paths)
    return (
        Findings([said]) if code else Findings(undocumented=set(UNDOCUMENTED_PYTHON.findall(said)))
    )


UNDOCUMENTED_PYTHON = re.compile(r"^undocumented: (\S+)$", re.M)
# Runs where pdoc is: makes the pages, and prints the classes and functions of the package without a
# docstring. Names that are imported when they are first asked for are asked for first.
PDOC = """
import importlib, sys
from pathlib import Path
import pdoc
from pdoc.doc import Class, Function, Module

def items(found):
    for one in found.members.values():
        if one.name.startswith("_") or not one.modulename.startswith("polycache"):
            continue
        if isinstance(one, (Class, Function)):
            yield one
        if isinstance(one, Class):
            yield from items(one)

out, *names = sys.argv[1:]
modules = [importlib.import_module(name) for name in names]
for module in modules:
    for name in module.__all__:
        getattr(module, name)
pdoc.pdoc(*names, output_directory=Path(out))
for module in modules:
    for one in items(Module(module)):
        if not one.docstring.strip():
            print("undocumented:", one.fullname)
"""


def ruby() -> Findings:
    files = [ROOT / "ruby" / "lib" / name for name in RUBY]
    options = ["--no-cache", "--no-save", "--no-private", "--markup", "rdoc"]
    make: list[str | Path] = [
        "yard",
        "doc",
        *options,
        "--output-dir",
        OUT / "ruby",
        "--readme",
        "ruby/README.md",
    ]
    code, said = run([*make, *files])
    _, listed = run(["yard", "stats", "--list-undoc", "--compact", *options, *files])
    return Findings([said] if code else yard_warned(said), yard_listed(listed))


# What stands in **options is documented as @param, by its own name.
OPTION_OF_REST = "@param tag has unknown parameter name"


def yard_warned(said: str) -> list[str]:
    return [
        line
        for line in said.splitlines()
        if line.startswith(("[warn]", "[error]")) and OPTION_OF_REST not in line
    ]


def yard_listed(said: str) -> set[str]:
    """`Polycache::Cache#get     (lib/polycache/cache.rb:1)`"""
    lines = (line.split() for line in said.splitlines())
    return {words[0] for words in lines if len(words) == 2 and re.search(r":\d+\)$", words[1])}


# Each with what tools/setup.sh installs for it.
REFERENCES: dict[str, tuple[str, Callable[[], Findings]]] = {
    "rust": ("", rust),
    "typescript": ("typedoc", typescript),
    "python": ("pdoc", python),
    "ruby": ("yard", ruby),
}


KNOWN_HEAD = """\
# Public items without documentation, by the name that each language's tool gives them. Take out
# what has been documented; `make reference ARGS=--accept` writes what is missing today.
"""


def known() -> set[str]:
    return {line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")}


def accept() -> None:
    needs = [need for need, _ in REFERENCES.values() if need]
    if subprocess.call([ROOT / "tools/setup.sh", *needs]) != 0:
        sys.exit("a list without one language's items would be wrong")
    found = {language: make().undocumented for language, (_, make) in REFERENCES.items()}
    lists = ("\n".join(["", f"# {name}", *sorted(items)]) for name, items in found.items() if items)
    KNOWN.write_text(KNOWN_HEAD + "\n".join(lists) + "\n")


def check(language: str) -> Counts:
    need, make = REFERENCES[language]
    if need and subprocess.call([ROOT / "tools/setup.sh", need]) != 0:
        print(f"skipped {language}: no {need} here", flush=True)
        return Counts(skipped=1)
    found = make()
    new = sorted(found.undocumented - known())
    for problem in found.problems:
        print(f"{language}: {problem}", flush=True)
    for name in new:
        print(f"{language}: {name} is public and has no documentation", flush=True)
    failed = bool(found.problems or new)
    print(f"{'FAILED ' if failed else 'passed '} {language}: {OUT / language}", flush=True)
    return Counts(failed=1) if failed else Counts(passed=1)


def main(names: list[str]) -> int:
    if names == ["--accept"]:
        accept()
        names = []
    unknown = set(names) - set(REFERENCES)
    if unknown:
        sys.exit(
            f"no such reference: {' '.join(sorted(unknown))}; there are {' '.join(REFERENCES)}"
        )
    OUT.mkdir(parents=True, exist_ok=True)
    counts = sum((check(language) for language in names or REFERENCES), Counts())
    print(counts)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
