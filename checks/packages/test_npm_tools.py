"""The npm package beside what it is developed with: a strict compiler, test runners, bundlers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import run
from npm_runtimes import NODES, RUNTIMES, TOOLS, VERSION, say

pytest_plugins = ["npm_projects"]


@pytest.mark.parametrize("flags", [
    ["--module", "nodenext"],
    ["--module", "node16"],
    ["--module", "esnext", "--moduleResolution", "bundler"],
    ["--module", "preserve"],
    ["--module", "nodenext", "strict.cts"],
    ["--module", "node16", "strict.cts"],
], ids=" ".join)  # fmt: skip
def test_a_strict_compiler(flags: list[str], developer: Path) -> None:
    shutil.copy(developer / "strict.ts", developer / "strict.cts")
    files = [] if "strict.cts" in flags else ["strict.ts"]
    strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--types", "node"]
    target = ["--target", "es2023", "--lib", "es2023,esnext.disposable", "--ignoreConfig"]
    tsc = str(developer / "node_modules/typescript/bin/tsc")
    run([RUNTIMES["node24"], tsc, *strict, *target, *flags, *files], developer)


@pytest.mark.parametrize("runtime", NODES)
def test_vitest(runtime: str, developer: Path) -> None:
    vitest = developer / "node_modules/vitest/vitest.mjs"
    config = developer / "vitest.config.mjs"
    config.write_text("export default { test: { include: ['*.vitest.ts'] } }")
    assert "1 passed" in say(runtime, developer, vitest, "run", "--no-color")


@pytest.mark.parametrize("runtime", NODES)
def test_jest(runtime: str, developer: Path) -> None:
    jest = str(developer / "node_modules/jest/bin/jest.js")
    config = json.dumps({"testMatch": ["**/*.jest.cjs"]})
    # Two files in one process: each loads the package for itself.
    shutil.copy(developer / "cache.jest.cjs", developer / "again.jest.cjs")
    words = [RUNTIMES[runtime], jest, "--ci", "--runInBand", "--config", config]
    assert "8 passed, 8 total" in run(words, developer).stderr


BANNER = (
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
)
BUNDLES = {
    "nothing of packages": ["--packages=external"],
    "all but the native part": ["--external:@polycache/*"],
    "everything": ["--loader:.node=copy"],
}


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("form", ["esm", "cjs"])
@pytest.mark.parametrize("what", BUNDLES)
def test_esbuild(runtime: str, form: str, what: str, developer: Path, tmp_path: Path) -> None:
    # What is left external must be found from the bundle; what is whole runs anywhere.
    out = (tmp_path if what == "everything" else developer) / f"bundle-{runtime}-{form}"
    file = out / ("bundle.mjs" if form == "esm" else "bundle.cjs")
    flags = [*BUNDLES[what], f"--format={form}", "--bundle", "--platform=node"]
    if form == "esm" and what == "everything":
        flags.append(f"--banner:js={BANNER}")
    esbuild = developer / "node_modules/.bin/esbuild"
    said = run([esbuild, "bundled.js", *flags, f"--outfile={file}"], developer)
    assert "WARNING" not in said.stderr
    printed = say(runtime, out, file, tmp_path / "cache")
    assert json.loads(printed) == [{"name": "Ada"}, "memory"]


def test_a_bundle_that_misses_its_native_part_says_what_to_do(
    developer: Path, tmp_path: Path
) -> None:
    esbuild = developer / "node_modules/.bin/esbuild"
    flags = ["--bundle", "--platform=node", "--loader:.node=copy", "--format=esm"]
    run([esbuild, "bundled.js", *flags, f"--outfile={tmp_path}/no-banner.mjs"], developer)
    flags[2:] = ["--loader:.node=file", "--format=cjs"]
    run([esbuild, "bundled.js", *flags, f"--outfile={tmp_path}/a-name.cjs"], developer)
    flags[2:] = ["--external:@polycache/*", "--format=cjs"]
    run([esbuild, "bundled.js", *flags, f"--outfile={tmp_path}/external.cjs"], developer)
    for file, advice in {
        "no-banner.mjs": "const require = createRequire(import.meta.url)",
        "a-name.cjs": "--loader:.node=copy",
        "external.cjs": f"npm install @polycache/linux-x64-gnu@{VERSION}",
    }.items():
        said = run([RUNTIMES["node24"], file, "cache"], tmp_path, code=1).stderr
        assert "UnsupportedPlatform" in said and advice in said


def test_bun_compiles_one_file_that_runs_alone(user: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    run([TOOLS / "bun", "build", "--compile", "bundled.js", "--outfile", program], user)
    empty = tmp_path / "empty"
    empty.mkdir()
    printed = run([program, empty / "cache"], empty).stdout
    assert json.loads(printed) == [{"name": "Ada"}, "memory"]
