"""A server that is empty at the start of each test, and a client of it that knows no namespaces.

Every test runs with each server and both protocols.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest
import redis
import redis.asyncio

from .servers import PROGRAMS, Server, running

# A server's program and a protocol.
KINDS: list[tuple[str, int] | None] = [(name, protocol) for name in PROGRAMS for protocol in (2, 3)]


@pytest.fixture(scope="session")
def ports() -> Iterator[dict[str, int]]:
    with ExitStack() as stack:
        yield {program: stack.enter_context(running(program)) for program in PROGRAMS}


@pytest.fixture(params=KINDS or [None], ids=lambda kind: "-RESP".join(map(str, kind or ["none"])))
def server(request: pytest.FixtureRequest, ports: dict[str, int]) -> Iterator[Server]:
    if request.param is None:
        pytest.skip("no redis-server here")
    program, protocol = request.param
    with redis.Redis(port=ports[program], single_connection_client=True) as bare:
        bare.flushall()
        bare.script_flush()
        yield Server(ports[program], protocol, bare)


@pytest.fixture
def client(server: Server) -> Iterator[redis.Redis]:
    """Of the test's own, to put into namespaces."""
    with redis.Redis(**server.options, decode_responses=True) as client:
        yield client


@pytest.fixture
async def async_client(server: Server) -> AsyncIterator[redis.asyncio.Redis]:
    async with redis.asyncio.Redis(**server.options, decode_responses=True) as client:
        yield client
