from __future__ import annotations

from typing import Any, ClassVar

import django
from django.core.cache.backends.redis import RedisCache
from failing_subject import Subject, serve


class Django(Subject):
    versions: ClassVar[dict[str, str]] = {"Django": django.__version__}

    def open(self, url: str, directory: str) -> None:
        self.cache = RedisCache(url, {"KEY_PREFIX": "django"})

    def get(self, key: str) -> Any:
        return self.cache.get(key)

    def set(self, key: str, value: str) -> None:
        self.cache.set(key, value)

    def load(self, key: str) -> Any:
        return self.cache.get_or_set(key, lambda: "loaded")


serve(Django())
