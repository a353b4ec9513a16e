"""Pools of redis-py whose connections stay in a namespace while a client has them."""

from typing import Any

from ..errors import CommandNotAllowed
from .connection import AsyncConnection, Connection, Wrapped
from .session import Rewriter, Session


class Pool:
    """What is the same with and without asyncio. Whatever is not here is the pool's own."""

    def __init__(self, client: Any, rewriter: Rewriter, single: bool) -> None:
        self._single = single
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

    # A transaction begun by hand belongs to a connection, and the next command may get another one.
    # What it does there is undefined. Only a client of a single connection keeps it.
    def _refuse(self) -> None:
        if not self._single:
            raise CommandNotAllowed(
                "MULTI by itself would leave a connection of the pool in a transaction; use "
                "pipeline(), or a client with single_connection_client=True"
            )


class SyncPool(Pool):
    def get_connection(self, *args: Any, **options: Any) -> Connection:
        inner = self._pool.get_connection(*args, **options)
        return Connection(inner, Session(self._rewriter), self._encoder, self._cached)

    def release(self, connection: Any) -> None:
        if not isinstance(connection, Wrapped):
            self._pool.release(connection)
            return
        queueing = connection.released()
        if queueing:
            connection.inner.disconnect()
        self._pool.release(connection.inner)
        if queueing:
            self._refuse()


class AsyncPool(Pool):
    async def get_connection(self, *args: Any, **options: Any) -> AsyncConnection:
        inner = await self._pool.get_connection(*args, **options)
        return AsyncConnection(inner, Session(self._rewriter), self._encoder, self._cached)

    async def release(self, connection: Any) -> None:
        if not isinstance(connection, Wrapped):
            await self._pool.release(connection)
            return
        queueing = connection.released()
        if queueing:
            await connection.inner.disconnect()
        await self._pool.release(connection.inner)
        if queueing:
            self._refuse()
