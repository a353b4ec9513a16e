"""The remote tier over clients of a Sentinel, with and without asyncio."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio.sentinel
import redis.sentinel
from redis_namespace.servers import running, sentinel
from servers import INSTALLED

from polycache import AsyncCache, Cache, InvalidArgument

pytestmark = pytest.mark.skipif(not INSTALLED, reason="no server is installed")
PATIENCE = 5.0
"""Seconds: other tests may have the processor."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a Sentinel that watches a server."""
    with running(INSTALLED[0]) as server, sentinel(server) as port:
        yield port


def manager(kind: Any, port: int) -> Any:
    return kind([("127.0.0.1", port)])


def test_a_client_of_a_sentinel(port: int, tmp_path: Path) -> None:
    asked = manager(redis.sentinel.Sentinel, port)
    with asked.master_for("main") as client:
        with Cache(tmp_path, remote=client, timeout=PATIENCE) as cache:
            cache.set("k", "v")
            assert cache["k"] == "v"
        assert client.keys("polycache:*k")
    _close(asked)


def test_an_asyncio_client_of_a_sentinel(port: int, tmp_path: Path) -> None:
    async def main() -> None:
        asked = manager(redis.asyncio.sentinel.Sentinel, port)
        try:
            async with asked.master_for("main") as client:
                async with AsyncCache(tmp_path, remote=client, timeout=PATIENCE) as cache:
                    await cache.set("k", "from asyncio")
                    assert await cache.get("k") == "from asyncio"
                assert await client.keys("polycache:*k")
        finally:
            await asyncio.gather(*(one.aclose() for one in asked.sentinels))

    asyncio.run(main())


def test_replicas_are_refused(port: int) -> None:
    asked = manager(redis.sentinel.Sentinel, port)
    with asked.slave_for("main") as client, pytest.raises(InvalidArgument, match="slave_for"):
        Cache(remote=client)
    _close(asked)


def _close(asked: Any) -> None:
    for one in asked.sentinels:
        one.close()
