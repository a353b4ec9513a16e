from __future__ import annotations

from typing import Any

import polycache
from failing_subject import Subject, serve


class Polycache(Subject):
    def open(self, url: str, directory: str) -> None:
        self.cache = polycache.Cache(directory, remote=url)

    def get(self, key: str) -> Any:
        return self.cache.get(key)

    def set(self, key: str, value: str) -> None:
        self.cache.set(key, value)

    def load(self, key: str) -> Any:
        return self.cache.get_or_set(key, lambda: "loaded")


serve(Polycache())
