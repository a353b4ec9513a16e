"""What type checkers see of `open`: what each mode gives, and which arguments it takes.

The assertions are checked by mypy (`make lint CHECKS=mypy`); pyright reads them alike. A
`type: ignore` that is not needed is an error, so each of them is a call that is refused.
"""

import io
from typing import TYPE_CHECKING, assert_type

import pytest

from polycache import AsyncCache, Cache, InvalidArgument

cache = Cache()
asynchronous = AsyncCache.over(cache)


def test_each_mode_gives_its_file() -> None:
    with cache.open("k", "wb", ttl="1h") as writer:
        assert_type(writer.write(b"x"), int)
    with cache.open("t", "w", encoding="utf-8", ttl=5) as text:
        assert_type(text.write("x"), int)
        text.discard()
    with cache.open("k") as file:
        assert_type(file.read(), bytes)
        stream: io.BufferedIOBase = file
        assert stream is file
    with cache.open("k", "r", newline="") as lines:
        assert_type(lines.read(), str)
    with pytest.raises(InvalidArgument):
        cache.open("k", "a")  # type: ignore[call-overload]
    with pytest.raises(InvalidArgument):
        cache.open("k", "r", ttl=5)  # type: ignore[call-overload]
    with pytest.raises(InvalidArgument):
        cache.open("k", "rb", encoding="utf-8")  # type: ignore[call-overload]


async def test_asyncio_too() -> None:
    async with asynchronous.open("k", "wb") as writer:
        assert_type(await writer.write(b"x"), int)
    async with asynchronous.open("k") as file:
        assert_type(await file.read(), bytes)
    file_of_text = await asynchronous.open("k", "r")
    assert_type(await file_of_text.readline(), str)
    await file_of_text.close()
    if TYPE_CHECKING:
        asynchronous.open("k", "rw")  # type: ignore[call-overload]
        await writer.write("text")  # type: ignore[arg-type]
