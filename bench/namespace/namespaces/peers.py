"""Which subjects there are, and where Ruby finds their libraries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.subject import Subject, environment, find, ruby

RUBY = Path(__file__).resolve().parent.parent / "ruby"

# The peer that is no package anywhere: a folder with its source, given in this variable.
CHECKOUT = "REDIS_CLIENT_NAMESPACE"
FROM_CHECKOUT = ("redis-client-namespace", "redis-client-namespace-on-redis-rb")


def subjects(checkout: str) -> list[Subject]:
    """Ours first. `checkout` is the folder of redis-client-namespace, or empty."""
    return [_subject(path, checkout) for path in find(RUBY, ".rb")]


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
    return environment(ruby=[*folders, _library(checkout)] if checkout else folders)


def _library(checkout: str) -> Path:
    return Path(checkout).expanduser().resolve() / "lib"
