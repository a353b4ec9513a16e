"""redis.asyncio inside a namespace, with live servers."""

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest
import redis.asyncio

from polycache import CommandNotAllowed, InvalidArgument, UnknownCommand
from polycache.redis_namespace import namespaced

from .servers import Server


@pytest.fixture
def shop(async_client: Any) -> Any:
    return namespaced(async_client, "shop")


async def test_keys_get_the_prefix_and_lose_it(server: Server, shop: Any) -> None:
    assert await shop.set("a", 1)
    assert server.keys == [b"shop:a"]
    assert await shop.get("a") == "1"
    assert await shop.keys("*") == ["a"]
    assert type(shop) is redis.asyncio.Redis
    server.bare.mset({f"other:{n}": n for n in range(300)})
    assert [key async for key in shop.scan_iter()] == ["a"]
    assert await shop.scan(0, match="b*", count=1000) == (0, [])


async def test_the_client_itself_stays_as_it_was(server: Server, async_client: Any) -> None:
    async with namespaced(async_client, "shop") as shop:
        await shop.set("a", 1)
    await async_client.set("a", 2)
    assert server.keys == [b"a", b"shop:a"]


async def results(client: Any) -> list[Any]:
    await client.rpush("l", 1, 2, 3, 4)
    await client.zadd("z", {"a": 1, "b": 2, "c": 3, "d": 4})
    await client.xadd("s", {"f": "v"}, id="1-1")
    await client.xgroup_create("s", "streams", "0")
    return [
        await client.blpop(["none", "l"], 1),
        await client.lmpop(2, "none", "l", direction="LEFT"),
        await client.blmpop(1, 2, "none", "l", direction="LEFT"),
        await client.zmpop(1, ["z"], min=True),
        await client.bzpopmax(["none", "z"], 1),
        await client.bzmpop(1, 2, ["none", "z"], max=True),
        await client.xread({"s": "0"}),
        await client.xreadgroup("streams", "store", {"s": ">"}),
        await client.pubsub_numsub("c"),
        sorted(await client.keys()),
        await client.pipeline().get("a").xread({"s": "0"}).execute(),
    ]


@pytest.mark.parametrize("decode", [True, False])
async def test_results_are_those_of_a_bare_client(server: Server, decode: bool) -> None:
    async with redis.asyncio.Redis(**server.options, decode_responses=decode) as client:
        expected = await results(client)
        await client.flushall()
        assert await results(namespaced(client, "shop")) == expected
        assert all(key.startswith(b"shop:") for key in server.keys)


async def test_pipelines_and_transactions(server: Server, shop: Any) -> None:
    for transaction in (False, True):
        async with shop.pipeline(transaction=transaction) as pipe:
            assert await pipe.set("a", 1).keys("*").get("a").execute() == [True, ["a"], "1"]
            with pytest.raises(redis.ResponseError, match=r"\(LPUSH a 1\)"):
                await pipe.lpush("a", 1).execute()
            with pytest.raises(CommandNotAllowed):
                await pipe.set("b", 1).flushdb().execute()
            with pytest.raises(UnknownCommand):
                await pipe.set("b", 1).execute_command("NO.SUCH").execute()
    async with shop.pipeline() as pipe:
        await pipe.watch("a")
        assert await pipe.get("a") == "1"
        server.bare.set("shop:a", 2)
        pipe.multi()
        pipe.incr("a")
        with pytest.raises(redis.WatchError):
            await pipe.execute()

    def increment(pipe: Any) -> None:
        pipe.multi()
        pipe.incr("a").keys("*")

    assert await shop.transaction(increment, "a") == [3, ["a"]]
    assert server.keys == [b"shop:a"]


async def test_scripts_and_locks(server: Server, shop: Any) -> None:
    script = shop.register_script("redis.call('SET', KEYS[1], ARGV[1]) return KEYS[1]")
    assert await script(keys=["a"], args=["v"]) == "shop:a"
    server.bare.script_flush()
    assert await script(keys=["a"], args=["v"]) == "shop:a"
    async with shop.lock("l", timeout=10) as lock:
        assert server.keys == [b"shop:a", b"shop:l"]
        assert await lock.owned() and await lock.extend(5)
    assert server.keys == [b"shop:a"]


async def test_whole_database_commands_stay_inside(
    server: Server, async_client: Any, shop: Any
) -> None:
    other = namespaced(async_client, "shopping")
    await shop.mset({str(n): n for n in range(3000)})
    await other.set("c", 3)
    server.bare.set("d", 4)
    assert [await shop.dbsize(), await other.dbsize()] == [3000, 1]
    assert await other.randomkey() == "c"
    assert await shop.flushdb() is True
    assert server.keys == [b"d", b"shopping:c"]
    assert await shop.randomkey() is None
    nested = namespaced(other, "in")
    await nested.set("k", 1)
    assert [await nested.dbsize(), await nested.randomkey()] == [1, "k"]


async def test_what_is_refused(async_client: Any, shop: Any) -> None:
    with pytest.raises(UnknownCommand):
        await shop.execute_command("NO.SUCH", "doc")
    with pytest.raises(UnknownCommand):
        await shop.json().get("doc")
    with pytest.raises(CommandNotAllowed):
        await shop.flushall()
    with pytest.raises(CommandNotAllowed):
        shop.monitor()
    with pytest.raises(InvalidArgument):
        namespaced(async_client.pipeline(), "shop")
    assert await namespaced(async_client, "shop", allow=["CONFIG"]).config_get("maxmemory")


async def test_each_task_has_its_own_namespace(server: Server, async_client: Any) -> None:
    tenant = ContextVar[str | None]("tenant", default=None)
    shop = namespaced(async_client, tenant.get)
    with pytest.raises(InvalidArgument):
        await shop.get("k")

    async def work(name: str) -> list[Any]:
        tenant.set(name)
        for n in range(20):
            await shop.set(str(n), name)
            assert await shop.get(str(n)) == name
        return sorted(await shop.keys("*"), key=int)

    found = await asyncio.gather(*[work(name) for name in "abcd"])
    assert found == [[str(n) for n in range(20)]] * 4
    assert len(server.keys) == 80


async def test_a_cancelled_command(server: Server, shop: Any) -> None:
    async def blocked(number: int) -> None:
        while server.bare.info("clients")["blocked_clients"] != number:
            await asyncio.sleep(0)

    await shop.set("a", 1)
    for _ in range(20):
        await blocked(0)
        task = asyncio.create_task(shop.blpop(["none"], 5))
        # While redis-py connects or sends, in Python 3.11's asyncio.wait_for, it may miss that it
        # is cancelled. Some turns of the loop after the server has the command it reads.
        await blocked(1)
        for _ in range(20):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await shop.keys("*") == ["a"]
