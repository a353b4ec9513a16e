"""Which subjects there are, and where their languages find their libraries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from harness.subject import ROOT, Subject, bun, environment, find, node, python, ruby

HERE = Path(__file__).resolve().parent.parent
RUBY = HERE / "ruby"
PYTHON = HERE / "python"
JAVASCRIPT = HERE / "javascript"
RUST = HERE / "rust"

# The peer that is not a package anywhere: a folder with its source, given in this variable.
CHECKOUT = "REDIS_CLIENT_NAMESPACE"
FROM_CHECKOUT = ("redis-client-namespace", "redis-client-namespace-on-redis-rb")


def subjects(checkout: str) -> list[Subject]:
    """Ruby's, ours first. `checkout` is the folder of redis-client-namespace, or empty."""
    return [_subject(path, checkout) for path in find(RUBY, ".rb")]


def of_python() -> list[Subject]:
    return [python(path) for path in find(PYTHON, ".py")]


def of_rust() -> list[Subject]:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    compiled = target / "bench-namespace" / "release"
    paths = find(RUST / "src" / "bin", ".rs")
    return [Subject(path.stem, (str(compiled / path.stem),)) for path in paths]


def of_node(client: str) -> list[Subject]:
    """What sits on a client, and itself."""
    return [node(path) for path in find(JAVASCRIPT, ".mjs") if client in path.stem]


def of_bun() -> list[Subject]:
    return [bun(path) for path in find(JAVASCRIPT, ".mjs") if "bun-redis" in path.stem]


def _subject(path: Path, checkout: str) -> Subject:
    if path.stem in FROM_CHECKOUT:
        if not checkout:
            return Subject(path.stem, absent=f"no checkout given: {CHECKOUT}=<its folder>")
        if not _library(checkout).is_dir():
            return Subject(path.stem, absent=f"{CHECKOUT} names a folder without lib")
    return ruby(path)


def libraries(tools: Path, checkout: str) -> Mapping[str, str]:
    """What a subject's process sees: what they share, what setup.sh unpacked, and the checkout."""
    unpacked = tools / "debian" / "trixie" / "usr"
    gems = sorted(unpacked.glob("share/rubygems-integration/*/gems/*/lib"))
    folders = [RUBY / "lib", *gems, unpacked / "lib" / "ruby" / "vendor_ruby"]
    ours = [*folders, _library(checkout)] if checkout else folders
    return environment(python=[PYTHON / "lib"], ruby=ours)


def _library(checkout: str) -> Path:
    return Path(checkout).expanduser().resolve() / "lib"
