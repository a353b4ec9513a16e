"""Pipelines and transactions of redis-py inside a namespace, with live servers."""

from contextvars import ContextVar
from typing import Any

import pytest
import redis

from polycache import CommandNotAllowed, InvalidArgument
from polycache.redis_namespace import namespaced

from .servers import Server


@pytest.fixture
def shop(client: Any) -> Any:
    return namespaced(client, "shop")


def test_a_pipeline(server: Server, shop: Any) -> None:
    for transaction in (False, True):
        shop.flushdb()
        with shop.pipeline(transaction=transaction) as pipe:
            pipe.set("a", 1).keys("*").rpush("l", "x").scan(0)
            pipe.xadd("s", {"f": 1}, id="1-1").xread({"s": "0"}).get("a").lmpop(
                1, "l", direction="LEFT"
            )
            said = pipe.execute()
        streams = shop.xread({"s": "0"})
        assert said[:3] == [True, ["a"], 1]
        assert said[3][0] == 0 and sorted(said[3][1]) == ["a", "l"]
        assert said[4:] == ["1-1", streams, "1", ["l", ["x"]]]
        assert server.keys == [b"shop:a", b"shop:s"]


def test_an_error_in_a_pipeline_names_the_users_own_words(shop: Any) -> None:
    for transaction in (False, True):
        with pytest.raises(redis.ResponseError, match=r"\(LPUSH a 1\)"):
            shop.pipeline(transaction=transaction).set("a", 1).lpush("a", 1).execute()
        replies = shop.pipeline(transaction=transaction).lpush("a", 1).keys("*").execute(False)
        assert isinstance(replies[0], redis.ResponseError)
        assert replies[1] == ["a"]
    with pytest.raises(redis.ResponseError, match="SET a"):
        shop.pipeline().execute_command("SET", "a").keys("*").execute()
    assert shop.keys("*") == ["a"]


def test_a_pipeline_of_usual_commands_goes_past_our_connections(
    server: Server, shop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a connection of ours was asked for")

    monkeypatch.setattr(shop.connection_pool, "get_connection", refused, raising=False)
    for transaction in (False, True):
        pipe = shop.pipeline(transaction=transaction).set("a", 1).mget("a", "b").get(b"a")
        assert pipe.execute() == [True, ["1", None], "1"]
        with pytest.raises(AssertionError, match="asked for"):
            shop.pipeline(transaction=transaction).get("a").keys("*").execute()
    assert server.keys == [b"shop:a"]


def test_a_class_with_pipelines_of_its_own_keeps_them(server: Server) -> None:
    class Own(redis.Redis):
        def pipeline(self, *args: Any, **options: Any) -> Any:
            return super().pipeline(*args, **options).set("first", 1)

    with Own(**server.options) as client:
        assert namespaced(client, "shop").pipeline().get("first").execute() == [True, b"1"]
    assert server.keys == [b"shop:first"]


def test_what_cannot_be_a_key_empties_the_pipeline(server: Server, shop: Any) -> None:
    pipe = shop.pipeline().set("a", 1).set(object(), 2)
    with pytest.raises(InvalidArgument):
        pipe.execute()
    assert len(pipe) == 0 and server.keys == []


def test_a_watched_key(server: Server, shop: Any) -> None:
    shop.set("a", 1)
    with shop.pipeline() as pipe:
        pipe.watch("a")
        assert pipe.keys("*") == ["a"]
        server.bare.set("shop:a", 2)
        pipe.multi()
        pipe.incr("a")
        with pytest.raises(redis.WatchError):
            pipe.execute()
    tries = []

    def increment(pipe: Any) -> None:
        tries.append(pipe.get("a"))
        if len(tries) == 1:
            server.bare.set("shop:a", 5)
        pipe.multi()
        pipe.set("a", int(tries[-1]) + 1).keys("*")

    assert shop.transaction(increment, "a") == [True, ["a"]]
    assert tries == ["2", "5"]
    assert shop.get("a") == "6"


def test_a_transaction_command_by_command(shop: Any) -> None:
    with shop.client() as one:
        one.execute_command("MULTI")
        one.execute_command("SET", "a", 1)
        assert one.keys("*") == "QUEUED"
        with pytest.raises(CommandNotAllowed):
            one.dbsize()
        assert one.execute_command("EXEC") == ["OK", ["a"]]
        one.execute_command("MULTI")
        one.execute_command("DISCARD")
        assert one.keys("*") == ["a"]
        one.execute_command("MULTI")
        with pytest.raises(redis.ResponseError):
            one.execute_command("SET", "a")
        with pytest.raises(redis.exceptions.ExecAbortError):
            one.execute_command("EXEC")
        assert one.keys("*") == ["a"]
        one.execute_command("MULTI")
        with pytest.raises(redis.DataError):
            one.set("a", None)
        one.keys("*")
        assert one.execute_command("EXEC") == [["a"]]


def test_they_do_not_go_into_a_pipeline(server: Server, shop: Any) -> None:
    server.bare.set("other", 1)
    for transaction in (False, True):
        for forbidden in ("flushdb", "dbsize", "randomkey"):
            pipe = shop.pipeline(transaction=transaction).set("a", 1)
            getattr(pipe, forbidden)()
            with pytest.raises(CommandNotAllowed):
                pipe.execute()
    assert server.keys == [b"other"]


def test_a_pipeline_cleans_up_outside_every_namespace(client: Any) -> None:
    tenant = ContextVar[str | None]("tenant", default="a")
    pipe = namespaced(client, tenant.get).pipeline()
    pipe.watch("k")
    tenant.set(None)
    pipe.reset()
    assert pipe.connection is None
    client.set("a:k", 1)
    assert client.pipeline().get("a:k").execute() == ["1"]
