"""Subscriptions of redis-py inside a namespace, with live servers."""

import asyncio
import time
from collections.abc import Iterator
from contextvars import ContextVar
from threading import Event
from typing import Any

import pytest
import redis
import redis.asyncio

from polycache import InvalidArgument
from polycache.redis_namespace import namespaced

from .servers import Server


@pytest.fixture
def shop(client: Any) -> Any:
    return namespaced(client, "shop")


@pytest.fixture
def pubsub(shop: Any) -> Iterator[Any]:
    with shop.pubsub() as pubsub:
        yield pubsub


def next_of(pubsub: Any) -> tuple[Any, ...] | None:
    """Type, pattern, channel and data."""
    told = pubsub.get_message(timeout=5)
    return told and tuple(told.values())


def test_a_channel(server: Server, shop: Any, pubsub: Any) -> None:
    pubsub.subscribe("c")
    assert next_of(pubsub) == ("subscribe", None, "c", 1)
    assert shop.publish("c", "shop:m") == 1
    assert next_of(pubsub) == ("message", None, "c", "shop:m")
    assert server.bare.publish("c", "m") == 0
    assert server.bare.publish("shop:c", "m") == 1
    assert next_of(pubsub) == ("message", None, "c", "m")
    pubsub.unsubscribe("c")
    assert next_of(pubsub) == ("unsubscribe", None, "c", 0)
    assert not pubsub.subscribed and not pubsub.channels
    pubsub.subscribe("d")
    assert next_of(pubsub) == ("subscribe", None, "d", 1)
    pubsub.unsubscribe()
    assert next_of(pubsub) == ("unsubscribe", None, "d", 0)


def test_a_pattern(server: Server, client: Any) -> None:
    starred = namespaced(client, "a*b")
    with starred.pubsub() as pubsub:
        pubsub.psubscribe("n.*")
        assert next_of(pubsub) == ("psubscribe", None, "n.*", 1)
        server.bare.publish("axb:n.1", "m")
        starred.publish("n.1", "m")
        assert next_of(pubsub) == ("pmessage", "n.*", "n.1", "m")
        pubsub.punsubscribe("n.*")
        assert next_of(pubsub) == ("punsubscribe", None, "n.*", 0)


def test_a_shard_channel(shop: Any, pubsub: Any) -> None:
    pubsub.ssubscribe("c")
    assert next_of(pubsub) == ("ssubscribe", None, "c", 1)
    shop.spublish("c", "m")
    assert next_of(pubsub) == ("smessage", None, "c", "m")


def test_bytes(server: Server) -> None:
    with redis.Redis(**server.options) as client, namespaced(client, "shop").pubsub() as pubsub:
        pubsub.subscribe(b"\xff", "text")
        assert next_of(pubsub) == ("subscribe", None, b"\xff", 1)
        assert next_of(pubsub) == ("subscribe", None, b"text", 2)
        server.bare.publish(b"shop:\xff", b"\xfe")
        assert next_of(pubsub) == ("message", None, b"\xff", b"\xfe")


def test_handlers_listen_and_ping(server: Server, shop: Any, pubsub: Any) -> None:
    told: list[Any] = []
    pubsub.subscribe("c", h=told.append)
    pubsub.psubscribe(**{"p.*": told.append})
    # redis-py 8.1 cannot read the answer of RESP3.
    if server.protocol == 2:
        pubsub.ping("x")
    shop.publish("h", 1)
    shop.publish("p.1", 2)
    shop.publish("c", 3)
    types = []
    for message in pubsub.listen():
        types.append(message["type"])
        if message["type"] == "message":
            break
    assert ("pong" in types) == (server.protocol == 2)
    assert [(one["channel"], one["data"]) for one in told] == [("h", "1"), ("p.1", "2")]


def test_a_thread(shop: Any, pubsub: Any) -> None:
    told: list[Any] = []
    done = Event()

    def handler(message: Any) -> None:
        told.append(message)
        done.set()

    pubsub.subscribe(c=handler)
    thread = pubsub.run_in_thread(sleep_time=0.01)
    shop.publish("c", "m")
    assert done.wait(10)
    thread.stop()
    thread.join(10)
    assert [(one["channel"], one["data"]) for one in told] == [("c", "m")]


def test_who_listens(client: Any, shop: Any, pubsub: Any) -> None:
    pubsub.subscribe("c")
    next_of(pubsub)
    assert shop.pubsub_channels() == ["c"]
    assert namespaced(client, "other").pubsub_channels() == []
    assert [tuple(pair) for pair in shop.pubsub_numsub("c")] == [("c", 1)]


def test_notifications_of_a_key(server: Server, shop: Any, pubsub: Any) -> None:
    pubsub.subscribe("__keyspace@0__:a")
    assert next_of(pubsub) == ("subscribe", None, "__keyspace@0__:a", 1)
    server.bare.set("a", 1)
    shop.set("a", 1)
    assert next_of(pubsub) == ("message", None, "__keyspace@0__:a", "set")
    assert pubsub.get_message(timeout=0.05) is None
    with pytest.raises(InvalidArgument):
        pubsub.psubscribe("__key*__:*")


def test_notifications_of_an_event_leave_out_what_others_do(
    server: Server, shop: Any, pubsub: Any
) -> None:
    pubsub.psubscribe("__keyevent@*__:set")
    next_of(pubsub)
    server.bare.set("other", 1)
    server.bare.set("shopping:a", 1)
    shop.set("a", 1)
    expected = ("pmessage", "__keyevent@*__:set", "__keyevent@0__:set", "a")
    assert next_of(pubsub) == expected
    server.bare.set("other", 2)
    start = time.monotonic()
    assert pubsub.get_message(timeout=0.2) is None
    assert time.monotonic() - start >= 0.19
    server.bare.set("other", 3)
    assert pubsub.get_message() is None
    server.bare.set("other", 4)
    shop.set("a", 1)
    assert tuple(next(pubsub.listen()).values()) == expected


def test_notifications_as_redis_py_reads_them(server: Server, shop: Any) -> None:
    reading = pytest.importorskip("redis.keyspace_notifications")
    notifications = shop.keyspace_notifications()
    notifications.subscribe(reading.KeyspaceChannel("user:*"))
    server.bare.set("user:1", 1)
    shop.set("user:2", 1)
    told = None
    deadline = time.monotonic() + 10
    while told is None and time.monotonic() < deadline:
        told = notifications.get_message(timeout=0.5)
    assert told is not None
    assert (told.key, told.event_type) == ("user:2", "set")
    notifications.close()


def test_invalidations(server: Server, shop: Any) -> None:
    with shop.client() as reader, shop.pubsub() as pubsub:
        pubsub.subscribe("__redis__:invalidate")
        next_of(pubsub)
        if server.protocol == 3:
            pytest.skip("RESP3 pushes them to the connection itself")
        [id] = [one["id"] for one in server.bare.client_list("pubsub") if int(one["sub"]) == 1]
        reader.execute_command("CLIENT TRACKING", "on", "REDIRECT", id, "BCAST", "PREFIX", "u")
        assert "u" in str(reader.client_trackinginfo())
        assert "shop:u" not in str(reader.client_trackinginfo())
        server.bare.set("shop:v", 1)
        server.bare.set("shop:u1", 1)
        assert next_of(pubsub) == ("message", None, "__redis__:invalidate", ["u1"])


def test_a_push_handler(server: Server, shop: Any) -> None:
    if server.protocol == 2:
        pytest.skip("RESP3 only")
    told: list[Any] = []
    with shop.pubsub(push_handler_func=told.append) as pubsub:
        pubsub.subscribe("c")
        pubsub.subscribe("__keyevent@0__:set")
        shop.publish("c", "m")
        server.bare.set("other", 1)
        shop.set("a", 1)
        deadline = time.monotonic() + 10
        while len(told) < 4 and time.monotonic() < deadline:
            pubsub.get_message(timeout=0.1)
    assert told[2:] == [["message", "c", "m"], ["message", "__keyevent@0__:set", "a"]]
    # Not what the connection does for others.
    with shop.connection_pool._client.pubsub() as bare:
        bare.subscribe("c")
        assert bare.get_message(timeout=5)["channel"] == "c"
    assert len(told) == 4


def test_a_subscription_stays_where_it_began(server: Server, client: Any) -> None:
    tenant = ContextVar[str | None]("tenant", default="a")
    with namespaced(client, tenant.get).pubsub() as pubsub:
        pubsub.subscribe("c")
        tenant.set("b")
        pubsub.subscribe("d")
        assert [next_of(pubsub), next_of(pubsub)] == [
            ("subscribe", None, "c", 1),
            ("subscribe", None, "d", 2),
        ]
        assert sorted(server.bare.pubsub_channels()) == [b"a:c", b"a:d"]
        tenant.set(None)
        server.cut()
        assert [next_of(pubsub), next_of(pubsub)] == [
            ("subscribe", None, "c", 1),
            ("subscribe", None, "d", 2),
        ]
        assert sorted(server.bare.pubsub_channels()) == [b"a:c", b"a:d"]


async def test_asyncio(server: Server, async_client: Any) -> None:
    shop = namespaced(async_client, "shop")
    told: list[Any] = []

    async with shop.pubsub() as listener:

        async def next_message() -> tuple[Any, ...]:
            return tuple((await listener.get_message(timeout=5)).values())

        await listener.subscribe("c", h=told.append)
        await listener.psubscribe("p.*", "__keyevent@*__:set")
        await listener.ssubscribe("s")
        kinds = [(await next_message())[::2] for _ in range(5)]
        assert kinds == [
            ("subscribe", "c"),
            ("subscribe", "h"),
            ("psubscribe", "p.*"),
            ("psubscribe", "__keyevent@*__:set"),
            ("ssubscribe", "s"),
        ]
        await shop.publish("h", 0)
        await shop.publish("c", 1)
        await shop.publish("p.1", 2)
        await shop.spublish("s", 3)
        server.bare.set("other", 1)
        await shop.set("a", 1)
        assert await listener.get_message(timeout=5) is None
        assert told[0]["channel"] == "h"
        assert [await next_message() for _ in range(4)] == [
            ("message", None, "c", "1"),
            ("pmessage", "p.*", "p.1", "2"),
            ("smessage", None, "s", "3"),
            ("pmessage", "__keyevent@*__:set", "__keyevent@0__:set", "a"),
        ]
        server.bare.set("other", 1)
        start = time.monotonic()
        assert await listener.get_message(timeout=0.2) is None
        assert time.monotonic() - start >= 0.19
        assert await shop.pubsub_channels() in (["c", "h"], ["h", "c"])
        server.bare.set("other", 1)
        later = asyncio.get_running_loop().call_later(0.1, server.bare.publish, "shop:c", 4)
        async for message in listener.listen():
            assert (message["channel"], message["data"]) == ("c", "4")
            break
        later.cancel()


async def test_asyncio_push_handler(server: Server, async_client: Any) -> None:
    if server.protocol == 2:
        pytest.skip("RESP3 only")
    told: list[Any] = []

    async def handler(event: Any) -> None:
        told.append(event)

    shop = namespaced(async_client, "shop")
    async with shop.pubsub(push_handler_func=handler) as pubsub:
        await pubsub.subscribe("c", "__keyevent@0__:set")
        await shop.publish("c", "m")
        server.bare.set("other", 1)
        await shop.set("a", 1)
        deadline = time.monotonic() + 10
        while len(told) < 4 and time.monotonic() < deadline:
            await pubsub.get_message(timeout=0.1)
    assert told[2:] == [["message", "c", "m"], ["message", "__keyevent@0__:set", "a"]]
