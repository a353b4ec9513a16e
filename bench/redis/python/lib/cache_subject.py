"""What our subjects share: a cache over the benchmark's Redis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redis_subject import RedisSubject

import polycache


class CacheSubject(RedisSubject):
    def caches(self, port: int, directory: str) -> polycache.Cache:
        return polycache.Cache(directory, remote=f"redis://127.0.0.1:{port}", serializer="json")

    def open(self, port: int, directory: str) -> None:
        self.cache = self.caches(port, directory).namespace(self.name)

    def set(self, key: str, value: Any) -> None:
        self.cache.set(key, value)

    def get(self, key: str) -> Any:
        return self.cache.get(key)

    def set_for(self, key: str, value: Any, seconds: int) -> None:
        self.cache.set(key, value, ttl=seconds)

    def ttl(self, key: str) -> float:
        return self.cache.ttl(key) or 0

    def has(self, key: str) -> bool:
        return self.cache.has(key)

    def delete(self, key: str) -> None:
        self.cache.delete(key)

    def keys(self, start: str) -> list[str]:
        return [str(key) for key in self.cache.keys(start)]

    def mset(self, items: Mapping[str, Any]) -> None:
        self.cache.set_many(items)

    def mget(self, keys: list[str]) -> dict[str, Any]:
        return self.cache.get_many(keys)

    def mdelete(self, keys: list[str]) -> None:
        self.cache.delete_many(keys)

    def close(self) -> None:
        self.cache.close()
