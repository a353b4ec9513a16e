"""What the tests share: a fresh directory, a cache in it, and a clock that only a test moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from polycache import Cache

NOW = 1_700_000_000_000


class Clock:
    """Milliseconds since 1970."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory that holds a small cache, or will."""
    return tmp_path / "cache"


@pytest.fixture
def cache(directory: Path) -> Iterator[Cache]:
    with Cache(directory, limit="4MiB") as cache:
        yield cache
        # After every test: what was stored is whole, and no lease was left behind.
        if not cache.closed:
            report = cache.check()
            assert report.damaged == []
            assert report.leases == 0
