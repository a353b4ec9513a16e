"""What the tests of get_or_set_many share: caches of every kind, and loaders of several keys."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from helpers import LIMIT

from polycache import Cache, MemoryCache

KINDS: dict[str, Callable[..., Any]] = {
    "directory": lambda path, **options: Cache(path, limit="4MiB", **options),
    "no path": lambda _, **options: Cache(**options),
    "MemoryCache": lambda _, **options: MemoryCache(**options),
}


@contextmanager
def caches(kind: str, directory: Path) -> Iterator[Callable[..., Any]]:
    """Gives what makes caches of the kind; in the end no load is left of any."""
    made = []

    def make(**options: Any) -> Any:
        made.append(KINDS[kind](directory, **options))
        return made[-1]

    yield make
    for cache in made:
        assert cache._loads() == []
        if isinstance(cache, Cache):
            assert cache.check().leases == 0


class Loader:
    """Gives each key in capitals, and remembers what it was asked for."""

    def __init__(self, without: str = "") -> None:
        self.asked: list[list[Any]] = []
        self.without = without

    def __call__(self, keys: list[Any]) -> dict[Any, str]:
        self.asked.append(keys)
        return {key: key.upper() for key in keys if key not in self.without}


class Slow(Loader):
    """Says when it has begun, and goes on when it is told to."""

    def __init__(self, without: str = "", fails: bool = False) -> None:
        super().__init__(without)
        self.begun = threading.Event()
        self.finish = threading.Event()
        self.fails = fails

    def __call__(self, keys: list[Any]) -> dict[Any, str]:
        loaded = super().__call__(keys)
        self.begun.set()
        assert self.finish.wait(LIMIT)
        if self.fails:
            raise ZeroDivisionError
        return loaded
