"""Our remote tier without copies: each read asks the server, as each read of a client does."""

from cache_subject import CacheSubject
from redis_subject import measure

import polycache


class Through(CacheSubject):
    name = "polycache-redis-through"
    notes = ("JSON", "max_staleness=0: each read asks the server")

    def caches(self, port: int, directory: str) -> polycache.Cache:
        url = f"redis://127.0.0.1:{port}"
        return polycache.Cache(directory, remote=url, serializer="json", max_staleness=0)


measure(Through)
