"""What the subjects share: keys, loops, and how their work is checked.

A subject gives those operations that its library has. Each is a loop over the keys in which nothing
else happens, so that what is compared are the libraries.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from time import perf_counter
from typing import Any, ClassVar

from subject import Run, Subject, serve

COUNT = 1000
SIZE = 10_000
HIT, GET, MISS, SET, CALL = "cache[key]", "get", "get, miss", "cache[key] = value", "memoized call"


class Named:
    """A key as users write them, compared by code of its own."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and other.name == self.name


KINDS: dict[str, Callable[[int], Any]] = {
    "text": lambda number: f"user:{number}",
    "int": lambda number: 1_000_000 + number,
    "tuple": lambda number: ("user", 1_000_000 + number),
    "object": lambda number: Named(f"user:{number}"),
}

Loop = Callable[[Iterable[Any]], object]


class Peer(Subject):
    """A library. `loops` are its operations on a cache that holds every key."""

    package: ClassVar[str] = ""

    def __init__(self, keys: str, **_: Any) -> None:
        self.versions = {self.package: version(self.package)} if self.package else {}
        make = KINDS[keys]
        self.stored = [make(number) for number in range(COUNT)]
        # Half of them the very objects, half equal ones, as programs make them anew.
        self.asked = [
            self.stored[number] if number % 2 else make(number) for number in range(COUNT)
        ]
        self.absent = [make(number + COUNT) for number in range(COUNT)]
        self.fill(self.stored)

    @abstractmethod
    def fill(self, keys: list[Any]) -> None:
        """Stores each key's place in the list, plus one, under it."""

    @abstractmethod
    def value(self, key: Any) -> int | None:
        """What is stored under the key."""

    @abstractmethod
    def loops(self) -> Mapping[str, Loop]:
        """The operations, by their names."""

    def check(self) -> None:
        for number, key in enumerate(self.asked):
            assert self.value(key) == number + 1, f"{key} has {self.value(key)}"
        assert self.value(self.absent[0]) is None

    def operations(self) -> Mapping[str, tuple[str, Run]]:
        return {name: ("", self.timed(name, loop)) for name, loop in self.loops().items()}

    def timed(self, name: str, loop: Loop) -> Run:
        keys = self.absent if name == MISS else self.asked

        def run(seconds: float) -> float:
            """Nanoseconds an operation."""
            rounds = 0
            begin = perf_counter()
            while (taken := perf_counter() - begin) < seconds:
                loop(keys)
                rounds += 1
            return taken / rounds / COUNT * 1e9

        return run


class MappingPeer(Peer):
    """A library whose cache is a mapping."""

    def __init__(self, keys: str, **options: Any) -> None:
        self.cache = self.make()
        self.call = self.memoize(lambda key: 1)
        super().__init__(keys, **options)

    @abstractmethod
    def make(self) -> Any:
        """An empty cache."""

    def memoize(self, function: Callable[[Any], int]) -> Callable[[Any], int] | None:
        """The function, memoized in a cache of its own."""
        return None

    def fill(self, keys: list[Any]) -> None:
        for number, key in enumerate(keys):
            self.cache[key] = number + 1

    def value(self, key: Any) -> int | None:
        found: int | None = self.cache.get(key)
        return found

    def loops(self) -> Mapping[str, Loop]:
        cache, get, call = self.cache, self.cache.get, self.call

        def hit(keys: Iterable[Any]) -> None:
            for key in keys:
                cache[key]

        def read(keys: Iterable[Any]) -> None:
            for key in keys:
                get(key)

        def write(keys: Iterable[Any]) -> None:
            for key in keys:
                cache[key] = 1

        loops = {HIT: hit, GET: read, MISS: read, SET: write}
        if call is not None:
            function = call

            def called(keys: Iterable[Any]) -> None:
                for key in keys:
                    function(key)

            loops[CALL] = called
        return loops


def measure(kind: Callable[..., Subject]) -> None:
    serve(kind)
