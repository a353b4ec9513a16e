"""redis-py by itself."""

from collections.abc import Mapping
from typing import Any

import redis
from redis_subject import RedisSubject, decode, encode, measure


class RedisPy(RedisSubject):
    name = "redis-py"
    notes = ("JSON",)
    versions = {"redis (PyPI)": redis.__version__}  # noqa: RUF012

    def open(self, port: int, directory: str) -> None:
        self.client: Any = redis.Redis(port=port)

    def set(self, key: str, value: Any) -> None:
        self.client.set(f"py:{key}", encode(value))

    def get(self, key: str) -> Any:
        return decode(self.client.get(f"py:{key}"))

    def set_for(self, key: str, value: Any, seconds: int) -> None:
        self.client.set(f"py:{key}", encode(value), ex=seconds)

    def ttl(self, key: str) -> float:
        return float(self.client.ttl(f"py:{key}"))

    def has(self, key: str) -> bool:
        return bool(self.client.exists(f"py:{key}"))

    def delete(self, key: str) -> None:
        self.client.delete(f"py:{key}")

    def keys(self, start: str) -> list[str]:
        return [key[3:].decode() for key in self.client.keys(f"py:{start}*")]

    def mset(self, items: Mapping[str, Any]) -> None:
        self.client.mset({f"py:{key}": encode(value) for key, value in items.items()})

    def mget(self, keys: list[str]) -> dict[str, Any]:
        texts = self.client.mget([f"py:{key}" for key in keys])
        return {
            key: decode(text) for key, text in zip(keys, texts, strict=True) if text is not None
        }

    def mdelete(self, keys: list[str]) -> None:
        self.client.delete(*[f"py:{key}" for key in keys])

    def close(self) -> None:
        self.client.close()


measure(RedisPy)
