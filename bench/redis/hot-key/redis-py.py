"""redis-py: each read asks the server."""

from typing import Any

import redis
from hot_key import HotKey, Reader

from subject import serve


class Plain(Reader):
    def __init__(self, port: int) -> None:
        self.client: Any = redis.Redis(port=port)

    def get(self) -> Any:
        text = self.client.get("hot-plain")
        return None if text is None else int(text)


class RedisPy(HotKey):
    name = "redis-py"
    versions = {"redis (PyPI)": redis.__version__}  # noqa: RUF012

    @classmethod
    def reader(cls, port: int, directory: str) -> Reader:
        return Plain(port)

    def write(self, number: int) -> None:
        self.server.set("hot-plain", number)


if __name__ == "__main__":
    serve(RedisPy)
