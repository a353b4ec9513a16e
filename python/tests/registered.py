"""What the tests of registered types share: kinds of caches, classes, their names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from polycache import Cache, Type

KEY = b"k" * 32
CACHES: dict[str, Callable[..., Any]] = {
    "directory": lambda path, **options: Cache(path, limit="4MiB", **options),
    "directory alone": lambda path, **options: Cache(path, limit="4MiB", memory=False, **options),
    "directory, shared objects": lambda path, **options: Cache(
        path, limit="4MiB", memory={"isolation": "none"}, **options
    ),
    "encrypted, compressed": lambda path, **options: Cache(
        path, limit="4MiB", compressor="zstd", encryption=[{"id": 1, "key": KEY}], **options
    ),
    "no path": lambda _, **options: Cache(**options),
}


@dataclass
class User:
    name: str
    roles: list[str] = field(default_factory=list)


@dataclass
class Order:
    number: int
    customer: User
    items: list[Any]


class Point:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def __eq__(self, other: object) -> bool:
        return type(other) is Point and (other.x, other.y) == (self.x, self.y)

    def to_list(self) -> list[int]:
        return [self.x, self.y]

    @classmethod
    def from_list(cls, value: list[int]) -> "Point":
        return cls(*value)


POINT = Type(Point, encode=Point.to_list, decode=Point.from_list)
TYPES: dict[str, Any] = {"user": User, "order": Order, "point": POINT}
ORDER = Order(7, User("Ada", ["admin"]), [Point(1, 2), {"by": User("Bob")}, 3])


@contextmanager
def opened(kind: str, path: Path, **options: Any) -> Iterator[Cache]:
    """A cache that is found whole, and without a lease, in the end."""
    with CACHES[kind](path, **options) as cache:
        yield cache
        report = cache.check()
        assert (report.damaged, report.leases) == ([], 0)


every_cache = pytest.mark.parametrize("kind", CACHES)
every_isolated_cache = pytest.mark.parametrize(
    "kind", [kind for kind in CACHES if "shared" not in kind]
)


def never(_: Any) -> Any:
    raise AssertionError("it is not asked for")


def never_called() -> Any:
    raise AssertionError("it is there")


@dataclass(frozen=True)
class Frozen:
    number: int
