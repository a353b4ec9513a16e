"""A Cache of a directory, read through its memory tier: coherent with every process."""

from collections.abc import Iterable, Mapping
from tempfile import TemporaryDirectory
from typing import Any

import polycache
from measure import GET, MISS, SET, Loop, Peer, measure

from subject import NotOffered


class OverHost(Peer):
    name = "polycache-over-host"
    notes = ("shared by all processes, coherent",)

    def __init__(self, keys: str, **options: Any) -> None:
        if keys != "text":
            raise NotOffered("keys are text or bytes")
        self.directory = TemporaryDirectory()
        self.cache = polycache.Cache(self.directory.name, limit="64MiB")
        super().__init__(keys, **options)

    def fill(self, keys: list[Any]) -> None:
        for number, key in enumerate(keys):
            self.cache.set(key, number + 1)

    def value(self, key: Any) -> int | None:
        found: int | None = self.cache.get(key)
        return found

    def loops(self) -> Mapping[str, Loop]:
        get, put = self.cache.get, self.cache.set

        def read(keys: Iterable[Any]) -> None:
            for key in keys:
                get(key)

        def write(keys: Iterable[Any]) -> None:
            for key in keys:
                put(key, key)

        return {GET: read, MISS: read, SET: write}

    def close(self) -> None:
        self.cache.close()
        self.directory.cleanup()


measure(OverHost)
