"""A local Redis through redis-py with hiredis' parser, a round trip per operation."""

import hiredis
import redis
from session import GET, GET_100, NONE, PUT, PUT_100, Place, Reads, Run, Subject, Writes, serve


class Redis(Subject):
    name = "redis"
    durability = NONE
    versions = (("redis (PyPI)", redis.__version__), ("hiredis (PyPI)", hiredis.__version__))

    def __init__(self, place: Place) -> None:
        self.client = redis.Redis(port=place.redis_port, decode_responses=True)

    def operations(self) -> dict[str, Run]:
        return {PUT: self.put, PUT_100: self.fill, GET: self.get, GET_100: self.get_100}

    def put(self, writes: Writes) -> None:
        put = self.client.set
        for key, value in writes:
            put(key, value)

    def get(self, keys: Reads) -> int:
        get, misses = self.client.get, 0
        for key in keys:
            if get(key) is None:
                misses += 1
        return misses

    def get_100(self, keys: Reads) -> int:
        misses = 0
        for first in range(0, len(keys), 100):
            misses += self.client.mget(keys[first : first + 100]).count(None)
        return misses

    def fill(self, writes: Writes) -> None:
        for first in range(0, len(writes), 100):
            self.client.mset(dict(writes[first : first + 100]))

    def value(self, key: str) -> str | None:
        value: str | None = self.client.get(key)
        return value

    def close(self) -> None:
        self.client.close()


serve(Redis)
