"""What type checkers know of cached reads: the client's own methods, with its own signatures."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

    import redis
    import redis.asyncio

    from .asynchronous import AsyncJson
    from .stats import ReadStats
    from .synchronous import Json

    class CachedReads(redis.Redis):
        """The client's methods that read; others raise `UncacheableRead`."""

        @property
        def json(self) -> Json:  # type: ignore[override]
            """The same methods; each gives the JSON of the reply, encoded once for each change."""

        def forget(self, *keys: str | bytes) -> None:
            """Has reads of these keys read anew on this host: for what the program has just
            written."""

        def stats(self) -> ReadStats:
            """What these reads did."""

        def __enter__(self) -> Self: ...

    class AsyncCachedReads(redis.asyncio.Redis):
        """The client's methods that read; others raise `UncacheableRead`."""

        @property
        def json(self) -> AsyncJson:  # type: ignore[override]
            """The same methods; each gives the JSON of the reply, encoded once for each change."""

        def forget(self, *keys: str | bytes) -> None:
            """Has reads of these keys read anew on this host: for what the program has just
            written."""

        def stats(self) -> ReadStats:
            """What these reads did."""

        async def __aenter__(self) -> Self: ...
