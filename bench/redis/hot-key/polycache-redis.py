"""Our remote tier: the processes share a directory, whose copies are kept coherent."""

from time import sleep
from typing import Any

import polycache
from hot_key import HotKey, Reader

from subject import serve


class Cached(Reader):
    def __init__(self, cache: polycache.Cache) -> None:
        self.cache = cache
        # Until then every read asks the server.
        while not (stats := cache.remote_stats()) or not stats.listens:
            cache.get("key")
            sleep(0.01)

    def get(self) -> Any:
        return self.cache.get("key")


class PolycacheRedis(HotKey):
    name = "polycache-redis"
    notes = ("one directory for the four",)

    def __init__(self, redis_port: int, directory: str, **options: Any) -> None:
        # Without a directory, so it is a host of its own: it writes as another machine does.
        url = f"redis://127.0.0.1:{redis_port}"
        self.writer = polycache.Cache(remote=url, prefix="hot")
        Cached(self.writer)
        super().__init__(redis_port, directory, **options)

    @classmethod
    def reader(cls, port: int, directory: str) -> Reader:
        remote = f"redis://127.0.0.1:{port}"
        return Cached(polycache.Cache(directory, remote=remote, prefix="hot"))

    def write(self, number: int) -> None:
        self.writer.set("key", number)


if __name__ == "__main__":
    serve(PolycacheRedis)
