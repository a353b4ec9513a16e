#!/usr/bin/env python3
"""Runs the sections of the test suite, some beside each other; `make test` calls it.

    make test                            every default section
    make test SECTIONS="rust python"     only these
    make test LANES=1                    one after another
    make test-release                    what a release needs besides
    tools/run_tests.py --list            their names and commands

The output of each section stays together: what ran beside another is shown after it. The last line
is always `N passed, N failed, N skipped`, summed over everything; the failed tests stand above it
with their reasons. The exit code is not 0 when anything failed, and a section that yields no count
has failed.

Start it through make: the Makefile puts the tools' folder on PATH. Why make and this program rather
than just and cargo-nextest: ARCHITECTURE.md, "What we wrote although a library exists".
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from runner import counts
from runner.estimate import Durations
from runner.report import failed, table, total
from runner.run import Runner
from runner.section import Section

ROOT = Path(__file__).resolve().parent.parent
# One more than processors: most tests wait now and then, for a server or for another process.
LANES = max(1, int(os.environ.get("LANES") or (os.cpu_count() or 1) + 1))
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")

PYTEST = "pytest -q --junitxml={report}"
VITEST = "npx vitest run --reporter=default --reporter=junit --outputFile.junit={report}"
MINITEST = (
    "ruby -Iruby/lib -Iruby/test -e 'ARGV.sort.each { |file| require File.expand_path(file) }'"
)

# In the order in which they begin, beside each other: what fails fast, then what takes longest, and
# last what nothing else may run beside.
SECTIONS = [
    Section("tools", PYTEST + " -p no:asyncio tools/tests", counts.junit, needs=("python",)),
    # Every order of steps of the slot protocol, and that a rule left out is found.
    Section("model", PYTEST + " -p no:asyncio model", counts.junit, needs=("python",)),
    Section(
        "python",
        PYTEST,
        counts.junit,
        needs=("python",),
        likes=("servers", "arrow", "stores"),
        prepare=("build",),
        folder="python",
    ),
    Section(
        "lint",
        "python tools/lint.py",
        counts.summary,
        needs=("python",),
        prepare=("build", "typescript-packages"),
        group="cargo",
    ),
    Section(
        "demo-driver",
        PYTEST + " -p no:asyncio examples/demo/tests",
        counts.junit,
        needs=("python",),
    ),
    # The controller and its statistics; nothing is measured.
    Section(
        "bench",
        PYTEST + " -p no:asyncio --import-mode=importlib bench --ignore=bench/report",
        counts.junit,
        needs=("python",),
    ),
    # With assertions and checks of overflow, which `release` has not. The page of `polycache serve`
    # in a browser, too. And the tests of the checks: the production operations and engine under a
    # simulated scheduler, by thousands of seeds; every decoder with seeds, changed seeds and what
    # `make fuzz` has found; that the judge of `coherence` and `torture` finds what it should; and
    # the parts of the HTTP benchmark's servers.
    Section(
        "rust",
        "make --no-print-directory rust-tests RUN=",
        counts.cargo,
        likes=("servers", "chromium"),
        prepare=("rust-tests",),
    ),
    # The packages, installed into empty projects and used there.
    Section(
        "packages",
        PYTEST + " -p no:asyncio checks/packages",
        counts.junit,
        needs=("python",),
        prepare=("typescript-packages", "package-quick"),
        group="cargo",
    ),
    Section(
        "typescript-node",
        VITEST,
        counts.junit,
        needs=("node",),
        likes=("servers",),
        prepare=("build", "typescript-packages"),
        folder="typescript",
    ),
    # The page of the results, also in a browser.
    Section(
        "report",
        "bench/report/setup.sh && " + PYTEST + " -p no:asyncio bench/report/tests",
        counts.junit,
        needs=("python", "chromium"),
    ),
    Section(
        "typescript-bun",
        "bun test --timeout 120000 --reporter=junit --reporter-outfile={report}",
        counts.junit,
        needs=("node", "bun"),
        likes=("servers",),
        prepare=("build", "typescript-packages"),
        folder="typescript",
    ),
    Section(
        "ruby",
        MINITEST + " $(find ruby/test -maxdepth 1 -name '*_test.rb')",
        counts.minitest,
        needs=("ruby",),
        likes=("servers",),
        prepare=("build",),
    ),
    Section(
        "ruby-memory",
        # With the extension, which copies, and without.
        "for without in '' POLYCACHE_WITHOUT_EXTENSION=1; do env $without "
        + MINITEST
        + " ruby/test/memory/*_test.rb || exit 1; done",
        counts.minitest,
        needs=("ruby",),
        prepare=("build",),
    ),
    Section(
        "coherence",
        "make --no-print-directory check-coherence READS=300000",
        counts.summary,
        prepare=("build",),
    ),
    # The servers of examples/http on their runtimes, and `make demo-http`.
    Section(
        "http-examples",
        PYTEST + " -p no:asyncio examples/http/tests",
        counts.junit,
        needs=("python", "node"),
        likes=("redis", "bun", "rails"),
        prepare=("build", "typescript-dist"),
    ),
    # Cached reads over redis-rb 5 and redis-client.
    Section(
        "ruby-reads",
        MINITEST + " ruby/test/reads/*_test.rb",
        counts.minitest,
        needs=("ruby", "servers", "clients"),
        prepare=("build",),
    ),
    # The remote tier over clients of the gems: redis-rb 5 with redis-client, and redis-rb 4.
    Section(
        "ruby-clients",
        "for version in 5 4; do env POLYCACHE_REDIS_RB=$version "
        + MINITEST
        + " ruby/test/remote_client/*_test.rb || exit 1; done",
        counts.minitest,
        needs=("ruby", "servers", "clients"),
        prepare=("build",),
    ),
    # The same, and cached reads, in Rails: 7 over Rack 3, and the machine's own, which is over
    # Rack 2 in Debian bookworm.
    Section(
        "ruby-rails",
        "for version in 7 6; do env POLYCACHE_RAILS=$version "
        + MINITEST
        + " ruby/test/http/rails/*_test.rb || exit 1; done",
        counts.minitest,
        needs=("ruby", "servers", "clients", "rails"),
        prepare=("build",),
    ),
    # Values over HTTP, through Rack's Lint.
    Section(
        "ruby-http",
        MINITEST + " ruby/test/http/*_test.rb",
        counts.minitest,
        needs=("ruby", "clients"),
        prepare=("build",),
    ),
    # Without the native extension, which is not there yet when this one runs by itself.
    Section(
        "ruby-namespace",
        MINITEST + " ruby/test/redis_namespace/*_test.rb",
        counts.minitest,
        needs=("ruby", "servers", "clients"),
    ),
    # Metrics, with the real SDK; the section above has a stand-in for it.
    Section(
        "ruby-opentelemetry",
        "POLYCACHE_OPENTELEMETRY=sdk " + MINITEST + " ruby/test/opentelemetry_test.rb",
        counts.minitest,
        needs=("ruby", "opentelemetry"),
        prepare=("build",),
    ),
    # That spec/commands.json is what live servers say.
    Section(
        "commands",
        "make --no-print-directory commands ARGS=--check && echo '1 passed, 0 failed, 0 skipped'",
        counts.summary,
        needs=("python", "servers"),
    ),
    Section(
        "namespace",
        "make --no-print-directory check-namespace COMMANDS=100000",
        counts.summary,
        prepare=("build", "typescript-packages"),
        needs=("python", "ruby", "node", "bun", "servers", "clients"),
    ),
    # Each package's reference: no broken link, and nothing new that is public and undocumented.
    Section(
        "reference",
        "python tools/reference.py",
        counts.summary,
        needs=("python",),
        prepare=("build", "typescript-packages"),
        group="cargo",
    ),
    # The API of the four packages, word by word. Rust's is read from the reference's pages.
    Section(
        "api",
        "python tools/api.py --check",
        counts.summary,
        needs=("python", "ruby", "node"),
        prepare=("build", "typescript-packages"),
    ),
    Section(
        "docs",
        "python tools/run_docs.py",
        counts.summary,
        needs=("python",),
        prepare=("build", "typescript-dist"),
        group="cargo",
    ),
    # One server, and the troubles that have found most: half a minute.
    Section(
        "remote-check",
        "QUICK=1 make --no-print-directory check-remote ARGS='--servers redis-server "
        "--troubles lost-replies,late-then-silent,workers-killed,behind-our-back,flush,"
        "server-killed'",
        counts.summary,
        needs=("servers",),
        prepare=("build", "typescript-packages"),
    ),
    Section("demo", "make --no-print-directory demo", counts.summary, prepare=("build",)),
    Section(
        "torture",
        "make --no-print-directory torture KILLS=25",
        counts.summary,
        prepare=("build",),
        alone=True,
    ),
    Section(
        "production",
        "QUICK=1 make --no-print-directory test-production",
        counts.summary,
        prepare=("build", "typescript-dist"),
        alone=True,
    ),
    # As users compile it.
    Section(
        "rust-release",
        "make --no-print-directory rust-tests RUN= PROFILE=release",
        counts.cargo,
        likes=("servers", "chromium"),
        group="cargo",
        release=True,
    ),
    # As they are published: with link-time optimization, for older systems, too.
    Section(
        "packages-published",
        "tools/package.sh && " + PYTEST + " -p no:asyncio checks/packages",
        counts.junit,
        needs=("python",),
        prepare=("typescript-packages",),
        group="cargo",
        release=True,
    ),
    # The oldest Rust that Cargo.toml promises.
    Section(
        "msrv",
        "tools/msrv.sh",
        counts.summary,
        needs=("python", "msrv"),
        group="cargo",
        release=True,
    ),
    # The simulated policies against plain models, hand-made sequences and each other.
    Section(
        "hit-ratio",
        "cargo test --release --no-fail-fast --manifest-path bench/hit-ratio/rust/Cargo.toml",
        counts.cargo,
        group="cargo",
        release=True,
    ),
    # That every benchmark builds from its lock files; nothing is measured.
    Section(
        "bench-build",
        "passed=0; for setup in bench/*/setup.sh; do "
        'echo "--- $setup"; STRICT=1 $setup || { echo "$passed passed, 1 failed"; exit 1; }; '
        'passed=$((passed + 1)); done; echo "$passed passed, 0 failed, 0 skipped"',
        counts.summary,
        needs=("python",),
        prepare=("typescript-packages",),
        group="cargo",
        release=True,
    ),
    # All of them with `make mutants`; here those that build and fail quickly.
    Section(
        "mutants",
        "python tools/run_mutants.py --quick",
        counts.summary,
        needs=("python",),
        default=False,
    ),
    # The cases of spec/conformance alone; they are part of each language's own tests above.
    Section(
        "conformance-rust",
        "cargo test --release --no-fail-fast --test conformance",
        counts.cargo,
        default=False,
    ),
    Section(
        "conformance-typescript",
        VITEST + " conformance",
        counts.junit,
        needs=("node",),
        prepare=("build", "typescript-packages"),
        folder="typescript",
        default=False,
    ),
    Section(
        "conformance-python",
        PYTEST + " tests/test_conformance.py",
        counts.junit,
        needs=("python",),
        prepare=("build",),
        folder="python",
        default=False,
    ),
    Section(
        "conformance-ruby",
        MINITEST + " ruby/test/conformance_test.rb",
        counts.minitest,
        needs=("ruby",),
        prepare=("build",),
        default=False,
    ),
]


def choose(names: list[str]) -> list[Section]:
    if names == ["--release"]:
        return [section for section in SECTIONS if section.release]
    if not names:
        return [section for section in SECTIONS if section.default and not section.release]
    by_name = {section.name: section for section in SECTIONS}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        sys.exit(f"no such section: {' '.join(unknown)}. There are: {' '.join(by_name)}")
    return [by_name[name] for name in names]


def main(arguments: list[str]) -> int:
    if "--list" in arguments:
        for section in SECTIONS:
            print(f"{section.name:24}{section.command}")
        return 0
    sections = choose(arguments)
    durations = Durations(TARGET / "test-minutes.json")
    print(durations.estimate([section.name for section in sections], LANES), flush=True)
    started = time.monotonic()
    results = Runner(ROOT, lanes=LANES).run(sections)
    durations.keep(results)
    minutes = (time.monotonic() - started) / 60
    parts = (table(results, minutes), failed(results), str(total(results)))
    print("\n" + "\n\n".join(part for part in parts if part), flush=True)
    return 1 if total(results).failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
