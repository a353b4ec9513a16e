"""Pools of redis-py whose connections stay in a namespace while a client has them."""

from typing import Any

from .connection import AsyncConnection, Connection, Wrapped
from .session import Rewriter, Session


class Pool:
    """What is the same with and without asyncio. Whatever is not here is the pool's own."""

    def __init__(self, client: Any, rewriter: Rewriter) -> None:
        # A client closes its pool when it is forgotten.
        self._client = client
        self._pool = client.connection_pool
        self._rewriter = rewriter
        self._encoder = self._pool.get_encoder()
        self._cached = getattr(self._pool, "cache", None) is not None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def __repr__(self) -> str:
        return f"<namespaced {self._pool!r}>"

    def release(self, connection: Any) -> Any:
        if not isinstance(connection, Wrapped):
            return self._pool.release(connection)
        connection.released()
        return self._pool.release(connection.inner)


class SyncPool(Pool):
    def get_connection(self, *args: Any, **options: Any) -> Connection:
        inner = self._pool.get_connection(*args, **options)
        return Connection(inner, Session(self._rewriter), self._encoder, self._cached)


class AsyncPool(Pool):
    async def get_connection(self, *args: Any, **options: Any) -> AsyncConnection:
        inner = await self._pool.get_connection(*args, **options)
        return AsyncConnection(inner, Session(self._rewriter), self._encoder, self._cached)
