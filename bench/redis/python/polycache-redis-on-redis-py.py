"""Our remote tier without copies, through connections of redis-py's."""

import redis
from cache_subject import CacheSubject
from redis_subject import measure

import polycache


class OnRedisPy(CacheSubject):
    name = "polycache-redis-on-redis-py"
    notes = ("JSON", "max_staleness=0, by connections of redis-py")
    versions = {"redis (PyPI)": redis.__version__}  # noqa: RUF012

    def caches(self, port: int, directory: str) -> polycache.Cache:
        client = redis.Redis(port=port)
        return polycache.Cache(directory, remote=client, serializer="json", max_staleness=0)


measure(OnRedisPy)
