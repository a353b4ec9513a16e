"""What the tests share: a fresh directory, a cache in it, and a clock that only a test moves."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path

import pytest
from helpers import LIMIT
from hypothesis import HealthCheck, settings

from polycache import Cache

# No test asserts a time: a busy machine is not a failure.
settings.register_profile("polycache", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("polycache")

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
    # A lease that is left behind is noticed: it lasts for longer than any test may take. HOLDER's
    # last as long: a caller waits for none that outlasts its own.
    with Cache(directory, limit="4MiB", lease_timeout=2 * LIMIT) as cache:
        yield cache
        # After every test: what was stored is whole, and no lease was left behind.
        if not cache.closed:
            report = cache.check()
            assert report.damaged == []
            assert report.leases == 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            item.obj = limited(item.obj)


def limited(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """The test, failing when it takes as long as only a broken program does."""

    @wraps(test)
    async def run(**fixtures: object) -> None:
        async with asyncio.timeout(LIMIT):
            await test(**fixtures)

    return run
