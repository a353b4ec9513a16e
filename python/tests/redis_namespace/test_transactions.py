"""Transactions that end otherwise than by an EXEC that succeeds: every reply after them is as
before. With live servers."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import redis
import redis.asyncio

from polycache import CommandNotAllowed, InvalidArgument
from polycache.redis_namespace import namespaced

from .servers import Server


@pytest.fixture
def shop(server: Server) -> Iterator[Any]:
    """On a connection of its own, so that a transaction can be sent by hand."""
    fill(server)
    options = {**server.options, "single_connection_client": True, "decode_responses": True}
    with redis.Redis(**options) as client:
        yield namespaced(client, "shop")


@pytest.fixture
async def async_shop(server: Server) -> AsyncIterator[Any]:
    fill(server)
    options = {**server.options, "single_connection_client": True, "decode_responses": True}
    async with redis.asyncio.Redis(**options) as client, namespaced(client, "shop") as shop:
        yield shop


def fill(server: Server) -> None:
    server.bare.rpush("shop:l", "x", "y", "z")
    server.bare.mset({"shop:s": "v", "other:s": "v"})


def failing(shop: Any, *words: str) -> None:
    with pytest.raises(redis.ResponseError):
        shop.execute_command(*words)


def as_before(server: Server, shop: Any) -> None:
    """Every kind of reply that has names, and what cannot be part of a transaction."""
    assert sorted(shop.keys("*")) == ["l", "s"]
    first = server.bare.lindex("shop:l", 0)
    assert list(shop.blpop("l", 1)) == ["l", first.decode()]
    assert sorted(shop.scan(0)[1]) == ["l", "s"]
    assert shop.dbsize() == 2
    assert shop.pipeline().keys("s*").execute() == [["s"]]


def test_an_aborted_exec(server: Server, shop: Any) -> None:
    shop.execute_command("MULTI")
    failing(shop, "SET", "a")
    failing(shop, "EXEC")
    as_before(server, shop)


@pytest.mark.parametrize("ends", ["DISCARD", "EXEC"])
def test_a_transaction_by_hand(server: Server, shop: Any, ends: str) -> None:
    shop.execute_command("MULTI")
    assert shop.execute_command("KEYS", "s*") == "QUEUED"
    # Valkey aborts a transaction for these.
    if server.bare.info("server").get("server_name") != "valkey":
        failing(shop, "MULTI")
        failing(shop, "WATCH", "s")
    assert shop.execute_command(ends) == ([["s"]] if ends == "EXEC" else "OK")
    as_before(server, shop)


def test_a_watched_key_that_changed(server: Server, shop: Any) -> None:
    shop.execute_command("WATCH", "s")
    server.bare.set("shop:s", "w")
    shop.execute_command("MULTI")
    shop.execute_command("KEYS", "*")
    assert shop.execute_command("EXEC") is None
    as_before(server, shop)


def test_a_lost_connection(server: Server, shop: Any) -> None:
    number = shop.client_id()
    shop.execute_command("MULTI")
    server.bare.client_kill_filter(_id=number)
    with pytest.raises((redis.ResponseError, redis.ConnectionError)):
        shop.execute_command("EXEC")
    as_before(server, shop)


def test_a_pipeline_with_an_error_before_a_transaction(server: Server, shop: Any) -> None:
    pipe = shop.pipeline(transaction=False)
    pipe.execute_command("INCR", "l")
    pipe.execute_command("MULTI")
    pipe.execute_command("KEYS", "s*")
    pipe.execute_command("EXEC")
    replies = pipe.execute(raise_on_error=False)
    assert isinstance(replies[0], redis.ResponseError)
    assert replies[3] == [["s"]]
    as_before(server, shop)


def test_a_pipeline_that_is_aborted(server: Server, shop: Any) -> None:
    with pytest.raises(redis.ResponseError):
        shop.pipeline().keys("*").execute_command("SET", "a").execute()
    as_before(server, shop)


async def test_an_aborted_exec_with_asyncio(async_shop: Any) -> None:
    await async_shop.execute_command("MULTI")
    for words in (["SET", "a"], ["EXEC"]):
        with pytest.raises(redis.ResponseError):
            await async_shop.execute_command(*words)
    assert sorted(await async_shop.keys("*")) == ["l", "s"]
    assert list(await async_shop.blpop("l", 1)) == ["l", "x"]
    assert await async_shop.dbsize() == 2


def test_multi_by_itself_is_refused_on_a_pool(server: Server, client: Any) -> None:
    shop = namespaced(client, "shop")
    with pytest.raises(CommandNotAllowed, match="pipeline"):
        shop.execute_command("MULTI")
    # The connection is in no transaction.
    assert client.set("a", 1) is True
    with pytest.raises(redis.ResponseError, match="without MULTI"):
        shop.execute_command("EXEC")


async def test_the_same_with_asyncio(async_client: Any) -> None:
    shop = namespaced(async_client, "shop")
    with pytest.raises(CommandNotAllowed, match="pipeline"):
        await shop.execute_command("MULTI")
    assert await async_client.set("a", 1) is True


@pytest.mark.parametrize("name", [bytearray(b"GET"), memoryview(b"GET"), 5, None])
def test_a_name_of_a_type_that_redis_py_does_not_take(client: Any, name: Any) -> None:
    shop = namespaced(client, "shop")
    with pytest.raises(InvalidArgument, match="name is str or bytes"):
        shop.execute_command(name, "k")
    with pytest.raises(InvalidArgument, match="name is str or bytes"):
        shop.pipeline().execute_command(name, "k").execute()
    with pytest.raises(InvalidArgument, match="not nothing"):
        shop.execute_command()


def test_a_separator(server: Server, client: Any) -> None:
    app = namespaced(client, "app", separator="-")
    inner = namespaced(app, "in")
    app.set("k", 1)
    inner.set("k", 2)
    assert server.keys == [b"app-in:k", b"app-k"]
    assert sorted(app.keys()) == ["in:k", "k"]
    assert inner.keys() == ["k"]
    assert app.pipeline().get("k").keys("k").execute() == ["1", ["k"]]


def test_nobody_is_told_through_the_servers_own_channels(client: Any) -> None:
    shop = namespaced(client, "shop")
    for channel in ("__keyevent@0__:custom", b"__redis__:invalidate"):
        with pytest.raises(InvalidArgument, match="every namespace hears"):
            shop.publish(channel, "k")
