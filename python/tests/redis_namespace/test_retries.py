"""A connection is lost in the middle; what is sent again has its prefix once."""

from typing import Any

import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.retry import Retry

from polycache.redis_namespace import namespaced

from .servers import Server


@pytest.fixture
def shop(client: Any) -> Any:
    client.ping()
    return namespaced(client, "shop")


def test_a_command(server: Server, shop: Any) -> None:
    server.cut()
    shop.set("a", 1)
    assert server.keys == [b"shop:a"]


def test_a_command_of_many_keys(server: Server, shop: Any) -> None:
    server.cut()
    shop.mset({"a": 1, "b": 2})
    assert server.keys == [b"shop:a", b"shop:b"]


@pytest.mark.parametrize("transaction", [True, False])
def test_a_pipeline(server: Server, shop: Any, transaction: bool) -> None:
    pipe = shop.pipeline(transaction=transaction).set("a", 1).set("b", 2).keys("*")
    server.cut()
    assert sorted(pipe.execute()[2]) == ["a", "b"]
    assert server.keys == [b"shop:a", b"shop:b"]


@pytest.mark.parametrize("transaction", [True, False])
def test_a_pipeline_of_usual_commands(server: Server, shop: Any, transaction: bool) -> None:
    pipe = shop.pipeline(transaction=transaction).set("a", 1).mset({"b": 2, "c": 3})
    server.cut()
    assert pipe.execute() == [True, True]
    assert server.keys == [b"shop:a", b"shop:b", b"shop:c"]


def refuse_once(pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool has no connection the first time."""
    given = pool.get_connection

    def get_connection(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(pool, "get_connection", given)
        raise redis.ConnectionError("none is left")

    monkeypatch.setattr(pool, "get_connection", get_connection)


def test_a_pipeline_that_got_no_connection_keeps_what_was_said(
    server: Server, client: Any, shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = shop.pipeline().set("a", 1).get("a")
    refuse_once(client.connection_pool, monkeypatch)
    with pytest.raises(redis.ConnectionError):
        pipe.execute()
    assert pipe.execute() == [True, "1"]
    assert server.keys == [b"shop:a"]
    # Nothing is left of the short way: this one has commands of both kinds.
    assert pipe.keys("*").get("a").execute() == [["a"], "1"]


async def test_an_asynchronous_pipeline_that_got_no_connection_keeps_what_was_said(
    server: Server, async_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = namespaced(async_client, "shop").pipeline().set("a", 1).get("a")
    refuse_once(async_client.connection_pool, monkeypatch)
    with pytest.raises(redis.ConnectionError):
        await pipe.execute()
    assert await pipe.execute() == [True, "1"]
    assert server.keys == [b"shop:a"]


def test_one_connection(server: Server, shop: Any) -> None:
    with shop.client() as one:
        one.ping()
        server.cut()
        one.set("a", 1)
        assert one.keys("*") == ["a"]
    assert server.keys == [b"shop:a"]


def test_a_lost_connection_in_the_middle_of_a_walk(server: Server, shop: Any) -> None:
    shop.mset({str(n): n for n in range(3000)})
    with shop.client() as one:
        one.ping()
        server.cut()
        assert one.dbsize() == 3000
        server.cut()
        assert one.flushdb()
    assert server.keys == []


def test_a_lost_transaction_is_over(server: Server, shop: Any) -> None:
    with shop.client() as one:
        one.execute_command("MULTI")
        server.cut()
        one.set("a", 1)
        assert one.keys("*") == ["a"]
        one.execute_command("MULTI")
        one.connection_pool.disconnect()
        one.set("a", 2)
        assert one.keys("*") == ["a"]


def test_a_watched_key_of_a_lost_connection(server: Server, shop: Any) -> None:
    tries: list[int] = []

    def increment(pipe: Any) -> None:
        tries.append(1)
        if len(tries) == 1:
            server.cut()
        pipe.multi()
        pipe.incr("a").keys("*")

    assert shop.transaction(increment, "a") == [1, ["a"]]
    assert len(tries) == 2
    assert server.keys == [b"shop:a"]


def test_a_reply_that_does_not_come_in_time(server: Server) -> None:
    with redis.Redis(**server.options, socket_timeout=0.2, retry=Retry(NoBackoff(), 0)) as client:
        shop = namespaced(client, "shop")
        with shop.client() as one:
            with pytest.raises(redis.TimeoutError):
                one.blpop("none", 2)
            one.set("a", 1)
            assert one.keys("*") == [b"a"]


def test_subscriptions(server: Server, shop: Any) -> None:
    told: list[Any] = []
    with shop.pubsub() as pubsub:
        pubsub.subscribe("c", h=told.append)
        pubsub.psubscribe("p.*")
        pubsub.ssubscribe("s")
        for _ in range(4):
            assert pubsub.get_message(timeout=5)
        server.cut()
        confirmed = [pubsub.get_message(timeout=5) for _ in range(4)]
        assert {(one["type"], one["channel"]) for one in confirmed} == {
            ("subscribe", "c"),
            ("subscribe", "h"),
            ("psubscribe", "p.*"),
            ("ssubscribe", "s"),
        }
        assert server.bare.pubsub_channels() in ([b"shop:c", b"shop:h"], [b"shop:h", b"shop:c"])
        assert server.bare.pubsub_shardchannels() == [b"shop:s"]
        shop.publish("c", "m")
        shop.publish("p.1", "m")
        shop.publish("h", "m")
        assert pubsub.get_message(timeout=5)["channel"] == "c"
        assert pubsub.get_message(timeout=5)["channel"] == "p.1"
        assert pubsub.get_message(timeout=5) is None
        assert told[0]["channel"] == "h"


async def test_asyncio(server: Server, async_client: Any) -> None:
    shop = namespaced(async_client, "shop")
    await shop.ping()
    server.cut()
    await shop.mset({"a": 1, "b": 2})
    assert server.keys == [b"shop:a", b"shop:b"]
    for transaction in (True, False):
        pipe = shop.pipeline(transaction=transaction).set("a", 1).keys("*")
        server.cut()
        assert sorted((await pipe.execute())[1]) == ["a", "b"]
    async with shop.client() as one:
        await one.execute_command("MULTI")
        server.cut()
        await one.set("a", 1)
        assert sorted(await one.keys("*")) == ["a", "b"]
        server.cut()
        assert await one.dbsize() == 2


async def test_asyncio_subscriptions(server: Server, async_client: Any) -> None:
    shop = namespaced(async_client, "shop")
    async with shop.pubsub() as pubsub:
        await pubsub.subscribe("c")
        assert await pubsub.get_message(timeout=5)
        server.cut()
        confirmed = await pubsub.get_message(timeout=5)
        assert (confirmed["type"], confirmed["channel"]) == ("subscribe", "c")
        assert server.bare.pubsub_channels() == [b"shop:c"]
        await shop.publish("c", "m")
        assert (await pubsub.get_message(timeout=5))["data"] == "m"
