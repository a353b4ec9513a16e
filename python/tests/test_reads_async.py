"""Cached reads of `redis.asyncio.Redis`."""

import asyncio
import json
import signal
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import redis.asyncio
from servers import INSTALLED, Server, started
from test_reads import (
    CALLS,
    CLIENTS,
    DOCUMENTS,
    PATIENCE,
    WITH_DOCUMENTS,
    clients_are_closed,
    fill,
    options,
    own,
    plain,
    server,
    shared,
    times,
)

from polycache import InvalidArgument
from polycache.reads import UncacheableRead, asynchronous, cached
from polycache.redis_namespace import namespaced

pytestmark = pytest.mark.skipif(not INSTALLED, reason="no server is installed")
__all__ = ["clients_are_closed", "own", "server", "shared"]


async def until(what: str, holds: Callable[[], Awaitable[object]]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not await holds():
        assert time.monotonic() < deadline, f"never: {what}"
        await asyncio.sleep(0.002)


async def keeping(reads: Any, read: Callable[[], Awaitable[object]]) -> None:
    async def look() -> bool:
        before = reads.stats().memory_hits
        await read()
        await read()
        return bool(reads.stats().memory_hits > before)

    await until("the reply is kept", look)


@pytest.mark.parametrize("kind", CLIENTS)
async def test_a_hit_is_the_clients_reply(kind: str, server: Server, tmp_path: Path) -> None:
    fill(plain(server))
    client = redis.asyncio.Redis(port=server.port, **CLIENTS[kind])
    async with cached(client, **options(path=tmp_path, limit="16MiB")) as reads:
        await keeping(reads, lambda: reads.get("k:t"))
        for method, args, named in CALLS:
            expected = await getattr(client, method)(*args, **named)
            assert await getattr(reads, method)(*args, **named) == expected, method
            await keeping(reads, partial(getattr(reads, method), *args, **named))
            assert await getattr(reads, method)(*args, **named) == expected, method
    await client.aclose()


async def test_many_tasks_make_one_round_trip(server: Server) -> None:
    client = redis.asyncio.Redis(port=server.port, decode_responses=True)
    await client.rpush("many", "a")
    async with cached(client, **options()) as reads:
        await keeping(reads, lambda: reads.get("other"))
        await client.config_resetstat()
        calls = [asyncio.ensure_future(reads.lrange("many", 0, -1)) for _ in range(200)]
        calls[0].cancel()
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(found[0], asyncio.CancelledError)
        assert found[1:] == [["a"]] * 199
        assert (await client.info("commandstats"))["cmdstat_lrange"]["calls"] == 1
        await client.rpush("many", "b")

        async def shows() -> bool:
            return bool(await reads.lrange("many", 0, -1) == ["a", "b"])

        await until("the write is shown", shows)
    await client.aclose()


async def test_tasks_that_wait_for_one_reply_have_it_encoded_once(server: Server) -> None:
    client = redis.asyncio.Redis(port=server.port, decode_responses=True)
    await client.xadd("j", {"a": "1"}, id="1-1")
    async with cached(client, **options()) as reads:
        await keeping(reads, lambda: reads.get("other"))
        found = await asyncio.gather(*(reads.json.xrange("j", "-", "+") for _ in range(50)))
        assert found[0].bytes == b'[["1-1",{"a":"1"}]]'
        assert all(page is found[0] for page in found)
    await client.aclose()


async def test_tasks_that_wait_for_a_reply_that_is_not_kept_have_it_encoded_once(
    server: Server,
) -> None:
    client = redis.asyncio.Redis(port=server.port, decode_responses=True)
    await client.xadd("j", {"a": "1"}, id="1-1")
    # Nothing is heard yet.
    async with cached(client, **options()) as reads:
        found = await asyncio.gather(*(reads.json.xrange("j", "-", "+") for _ in range(50)))
        stats = reads.stats()
        assert (stats.sent, stats.joined, stats.memory_hits) == (1, 49, 0)
        assert found[0].bytes == b'[["1-1",{"a":"1"}]]'
        assert all(page is found[0] for page in found)
    await client.aclose()


async def test_a_read_that_hangs_holds_only_its_own_caller(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain(server).rpush("slow", "a")
    monkeypatch.setattr(asynchronous, "PATIENCE", 0.01)
    client = redis.asyncio.Redis(port=server.port, decode_responses=True)
    async with cached(client, **options()) as reads:
        await keeping(reads, lambda: reads.get("other"))
        inner: Any = cast("Any", reads)._reads
        real, is_first, gone_on = inner.pipeline, iter([True]), asyncio.Event()

        def pipeline(*args: Any) -> Any:
            pipe, asked = real(*args)
            execute = pipe.execute

            async def hanging(**given: Any) -> Any:
                await gone_on.wait()
                return await execute(**given)

            if next(is_first, False):
                pipe.execute = hanging
            return pipe, asked

        monkeypatch.setattr(inner, "pipeline", pipeline)
        hangs = asyncio.ensure_future(reads.lrange("slow", 0, -1))
        await asyncio.sleep(0)
        try:
            other = reads.lrange("slow", 0, -1)
            assert await asyncio.wait_for(other, PATIENCE) == ["a"]
        finally:
            gone_on.set()
        assert await asyncio.wait_for(hangs, PATIENCE) == ["a"]
    await client.aclose()


async def test_a_read_ends_when_the_last_that_waits_for_it_is_cancelled(own: Server) -> None:
    client = redis.asyncio.Redis(port=own.port, max_connections=1)
    async with cached(client, **options()) as reads:
        await keeping(reads, lambda: reads.get("other"))
        own.process.send_signal(signal.SIGSTOP)
        try:
            for number in range(3):
                calls = [asyncio.ensure_future(reads.get(f"k{number}")) for _ in range(3)]
                # All have come as far as they can.
                await asyncio.sleep(0.01)
                for call in calls:
                    call.cancel()
                found = await asyncio.gather(*calls, return_exceptions=True)
                assert all(isinstance(one, asyncio.CancelledError) for one in found), found
                assert asyncio.all_tasks() == {asyncio.current_task()}
        finally:
            own.process.send_signal(signal.SIGCONT)
        assert await reads.get("k0") is None
    await client.aclose()


async def test_namespaces_and_refusals(server: Server) -> None:
    client = redis.asyncio.Redis(port=server.port, decode_responses=True)
    await client.xadd("ns:x", {"f": "1"}, id="1-1")
    view = namespaced(client, "ns")
    async with cached(view, **options(prefixes=["x"])) as reads:
        await keeping(reads, lambda: reads.xread({"x": "0"}))
        assert await reads.xread({"x": "0"}) == await view.xread({"x": "0"})
        with pytest.raises(InvalidArgument, match="prefixes"):
            await reads.get("b")
        with pytest.raises(UncacheableRead, match="not known"):
            await reads.set("x", "1")
    await client.aclose()


async def test_errors_are_the_clients(own: Server) -> None:
    client = redis.asyncio.Redis(port=own.port, decode_responses=True)
    await client.hset("h", "a", "1")
    async with cached(client, **options(timeout="250ms")) as reads:
        with pytest.raises(redis.ResponseError, match=r"^WRONGTYPE"):
            await reads.get("h")
        own.stop()
        with pytest.raises(redis.ConnectionError):
            await reads.get("x")
    await client.aclose()


async def test_an_error_of_a_callback_leaves_the_connection_in_step(server: Server) -> None:
    async def awaited(reply: Any, **_: Any) -> Any:
        return json.loads(reply)

    client = redis.asyncio.Redis(port=server.port, max_connections=1)
    await client.mset({"a": '"A"', "b": '"B"'})
    for callback in (json.loads, awaited):
        client.set_response_callback("GET", cast("Any", callback))
        async with cached(client, **options()) as reads:
            await keeping(reads, lambda: reads.exists("a"))
            for _ in range(2):
                with pytest.raises(TypeError):
                    await reads.get("none")
                assert [await client.get("a"), await client.get("b")] == ["A", "B"]
                assert [await reads.get("a"), await reads.get("b")] == ["A", "B"]
    await client.aclose()


async def test_functions_without_a_name_are_told_apart(server: Server) -> None:
    client = redis.asyncio.Redis(port=server.port)
    await client.set("n", 5)
    await client.zadd("z", {"a": 1})
    async with cached(client, **options()) as reads:
        await keeping(reads, lambda: reads.zcard("z"))

        async def scaled(of: Any, by: int) -> object:
            how = {"withscores": True, "score_cast_func": lambda score: float(score) * by}
            return await of.zrange("z", 0, -1, **how)

        for by in (1, 10):
            assert await scaled(reads, by) == await scaled(client, by)
            client.set_response_callback("GET", times(by))
            await keeping(reads, lambda: reads.get("n"))
            assert await cast("Any", reads).get("n") == 5 * by
    await client.aclose()


async def test_the_json_of_a_document_is_its_text() -> None:
    with started(INSTALLED[0], WITH_DOCUMENTS) as server:
        client = redis.asyncio.Redis(port=server.port)
        async with client, cached(client, **options()) as reads:
            for text in DOCUMENTS:
                await client.set("doc", text)

                async def is_shown(text: str = text) -> bool:
                    document = await reads.json.execute_command("JSON.GET", "doc")
                    return bool(document.bytes == text.encode())

                await until("it is shown", is_shown)
