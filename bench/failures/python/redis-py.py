from __future__ import annotations

from typing import Any, ClassVar

import redis
from failing_subject import Subject, serve


class RedisPy(Subject):
    versions: ClassVar[dict[str, str]] = {"redis (PyPI)": redis.__version__}
    loads = False

    def open(self, url: str, directory: str) -> None:
        self.client = redis.Redis.from_url(url)

    def get(self, key: str) -> Any:
        return self.client.get(f"py:{key}")

    def set(self, key: str, value: str) -> None:
        self.client.set(f"py:{key}", value)


serve(RedisPy())
