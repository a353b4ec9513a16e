"""`AsyncCache.open`: a file whose methods are awaited, each of which runs in a thread."""

import asyncio
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from .writing import TextWriter, ValueWriter

S = TypeVar("S", str, bytes)


class AsyncFile(Generic[S]):
    """A value that is read or written as a file, in asyncio. One task at a time may use it.

    The end of an `async with` block closes it; a block that raises stores nothing. `async for`
    gives its lines.
    """

    def __init__(self, file: Any) -> None:
        self._file = file

    async def read(self, size: int = -1) -> S:
        """At most so many bytes or characters, or all that are left."""
        return cast(S, await asyncio.to_thread(self._file.read, size))

    async def readline(self) -> S:
        """The next line with its end; nothing at the end."""
        return cast(S, await asyncio.to_thread(self._file.readline))

    async def write(self, data: S) -> int:
        """Writes all of it, and returns how much that is."""
        return cast(int, await asyncio.to_thread(self._file.write, data))

    async def seek(self, offset: int, whence: int = 0) -> int:
        """Goes to another place of a value that is read."""
        return cast(int, await asyncio.to_thread(self._file.seek, offset, whence))

    async def tell(self) -> int:
        """The place where it is."""
        return cast(int, await asyncio.to_thread(self._file.tell))

    async def close(self) -> None:
        """Closes it; a value that was written is stored."""
        await asyncio.to_thread(self._file.close)

    async def discard(self) -> None:
        """Closes it, and stores nothing."""
        written = isinstance(self._file, ValueWriter | TextWriter)
        await asyncio.to_thread(self._file.discard if written else self._file.close)

    @property
    def closed(self) -> bool:
        """True after `close` or `discard`."""
        return cast(bool, self._file.closed)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> S:
        line = await self.readline()
        if not line:
            raise StopAsyncIteration
        return line

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            await self.close()
        else:
            await self.discard()


class AsyncOpening(Generic[S]):
    """What `AsyncCache.open` returns: to be awaited, or for `async with`."""

    def __init__(self, open_it: Callable[[], Any]) -> None:
        self._open = open_it
        self._opened: AsyncFile[S] | None = None

    def __await__(self) -> Generator[Any, None, AsyncFile[S]]:
        return self._begin().__await__()

    async def _begin(self) -> AsyncFile[S]:
        return AsyncFile(await asyncio.to_thread(self._open))

    async def __aenter__(self) -> AsyncFile[S]:
        self._opened = await self._begin()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, traceback)
