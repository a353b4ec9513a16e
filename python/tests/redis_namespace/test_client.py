"""redis-py inside a namespace, with live servers."""

import gc
import os
import subprocess
import sys
from contextvars import ContextVar
from typing import Any, assert_type

import pytest
import redis
import redis._parsers
import redis.asyncio
from helpers import together
from redis.sentinel import Sentinel

from polycache import CommandNotAllowed, InvalidArgument, UnknownCommand
from polycache.redis_namespace import namespaced

from .servers import Server, sentinel


@pytest.fixture
def shop(client: Any) -> Any:
    return namespaced(client, "shop")


def test_nothing_native_is_loaded() -> None:
    program = (
        "import sys, polycache.redis_namespace as n; n.CommandTable(); "
        "assert 'redis' not in sys.modules; n.namespaced; "
        "assert 'redis' in sys.modules; assert 'polycache._native' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_keys_get_the_prefix_and_lose_it(server: Server, shop: Any) -> None:
    assert shop.set("a", 1)
    assert server.keys == [b"shop:a"]
    assert shop.get("a") == "1"
    assert shop.keys("*") == ["a"]
    assert type(shop) is redis.Redis


def test_the_client_itself_stays_as_it_was(server: Server, client: Any) -> None:
    shop = namespaced(client, "shop")
    shop.set("a", 1)
    client.set("a", 2)
    assert server.keys == [b"a", b"shop:a"]
    shop.close()
    assert client.get("a") == "2"


def test_a_client_that_nobody_else_keeps(server: Server) -> None:
    shop = namespaced(redis.Redis(**server.options), "shop")
    assert shop.set("a", 1)
    assert shop.get("a") == b"1"
    shop.connection_pool.disconnect()


def test_a_key_that_begins_with_the_prefix_is_its_own_key(server: Server, shop: Any) -> None:
    shop.mset({"a": 1, "shop:a": 2})
    assert server.keys == [b"shop:a", b"shop:shop:a"]
    assert shop.mget("a", "shop:a") == ["1", "2"]
    assert sorted(shop.keys("*")) == ["a", "shop:a"]


def test_keys_of_every_type(server: Server, shop: Any) -> None:
    shop.mset({"text": 1, b"bytes": 2, memoryview(b"view"): 3, 4: 4, 0.5: 5})
    assert server.keys == [b"shop:0.5", b"shop:4", b"shop:bytes", b"shop:text", b"shop:view"]
    for wrong in (True, None, object()):
        with pytest.raises(InvalidArgument):
            shop.get(wrong)
    with pytest.raises(redis.DataError):
        shop.set("a", None)
    assert shop.get("text") == "1"


@pytest.mark.parametrize("namespace", ["shop", "ü"])
def test_bytes_stay_bytes(server: Server, namespace: str) -> None:
    with redis.Redis(**server.options) as client:
        shop = namespaced(client, namespace)
        key = b"\xff\x00\xc3\xa9"
        shop.set(key, "v")
        assert server.keys == [f"{namespace}:".encode() + key]
        assert shop.get(key) == b"v"
        assert shop.keys("*") == [key]
        assert shop.dbsize() == 1
        assert shop.randomkey() == key
        shop.flushdb()
        assert server.keys == []


def test_a_callback_is_given_names_without_prefix(server: Server, client: Any) -> None:
    shop = namespaced(client, "shop")
    shop.set("a", 1)
    shop.set_response_callback("KEYS", lambda names, **_: ",".join(names))
    shop.set_response_callback("GET", lambda reply, **_: f"<{reply}>")
    assert (shop.keys("*"), shop.get("a")) == ("a", "<1>")
    assert client.keys("*") == ["shop:a"]


def test_a_class_that_carries_commands_out_itself(server: Server) -> None:
    class Telling(redis.Redis):
        label = "bare"

        def parse_response(self, connection: Any, command_name: Any, **options: Any) -> Any:
            told.append((self.label, command_name))
            return super().parse_response(connection, command_name, **options)  # type: ignore[no-untyped-call]

    told: list[Any] = []
    with Telling(**server.options) as client:
        shop = namespaced(client, "shop")
        shop.label = "shop"
        shop.set("a", 1)
        assert shop.keys("*") == [b"a"]
    assert told == [("shop", "SET"), ("shop", "KEYS")]
    assert server.keys == [b"shop:a"]


def test_a_method_of_the_client_alone_is_not_taken_over(server: Server, client: Any) -> None:
    client.execute_command = client.execute_command
    namespaced(client, "shop").set("a", 1)
    assert server.keys == [b"shop:a"]


def test_a_forgotten_client_lets_its_connections_go(server: Server) -> None:
    shop = namespaced(redis.Redis(**server.options), "shop")
    shop.set("a", 1)
    [connection] = shop.connection_pool._available_connections
    gc.disable()
    try:
        del shop
        assert not connection.is_connected
    finally:
        gc.enable()


@pytest.fixture
def without_hiredis(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where it is not installed."""
    monkeypatch.setattr(redis.utils, "HIREDIS_AVAILABLE", False)
    monkeypatch.setattr(redis.connection, "HIREDIS_AVAILABLE", False)
    monkeypatch.setattr(redis.connection, "DefaultParser", redis._parsers._RESP2Parser)


def test_hiredis_sends_utf8_alone(
    server: Server, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis.utils, "HIREDIS_AVAILABLE", True)
    latin = redis.Redis(**server.options, encoding="latin-1")
    with latin, pytest.raises(InvalidArgument, match="hiredis"):
        namespaced(latin, "shop")
    with redis.Redis(**server.options, encoding="UTF8") as utf8:
        namespaced(utf8, "shop").set("é", 1)
    assert server.keys == ["shop:é".encode()]


@pytest.mark.usefixtures("without_hiredis")
def test_a_client_of_another_encoding(server: Server) -> None:
    with redis.Redis(**server.options, encoding="latin-1", decode_responses=True) as client:
        shop = namespaced(client, "ü")
        shop.mset({"é": 1, b"b": 2})
        assert server.keys == [b"\xfc:b", b"\xfc:\xe9"]
        assert sorted(shop.keys("*")) == ["b", "é"]
    with pytest.raises(InvalidArgument):
        namespaced(client, "日")


def test_scan_walks_its_own_namespace(server: Server, shop: Any) -> None:
    server.bare.mset({f"other:{n}": n for n in range(300)})
    shop.mset({f"k{n}": n for n in range(20)})
    assert {*shop.scan_iter()} == {f"k{n}" for n in range(20)}
    assert [*shop.scan_iter(match="k7")] == ["k7"]
    assert [*shop.scan_iter(_type="hash")] == []
    shop.hset("h", "f", 1)
    assert [*shop.hscan_iter("h")] == [("f", "1")]
    cursor, keys = shop.scan(0, count=1000)
    assert cursor == 0 and len(keys) == 21


def test_glob_characters_of_the_namespace_match_only_themselves(
    server: Server, client: Any
) -> None:
    starred = namespaced(client, "a*b")
    starred.set("k", 1)
    server.bare.set("axxb:k", 2)
    assert starred.keys("*") == ["k"]
    assert [*starred.scan_iter()] == ["k"]
    assert starred.dbsize() == 1


def results(client: Any) -> list[Any]:
    """What many commands give; streams have ids of their own here."""
    client.rpush("l", 1, 2, 3, 4)
    client.zadd("z", {"a": 1, "b": 2, "c": 3, "d": 4})
    client.xadd("s", {"f": "v"}, id="1-1")
    client.xgroup_create("s", "streams", "0")
    client.sadd("members", "a", "b")
    client.mset({"w_a": 2, "w_b": 1, "o_a": "A", "o_b": "B"})
    client.geoadd("g", (1, 2, "STORE"))
    return [
        client.blpop(["none", "l"], 1),
        client.brpop(["none", "l"], 1),
        client.lmpop(2, "none", "l", direction="LEFT"),
        client.lmpop(1, "none", direction="LEFT"),
        client.blmpop(1, 2, "none", "l", direction="LEFT"),
        client.zmpop(1, ["z"], min=True),
        client.bzpopmax(["none", "z"], 1),
        client.bzpopmin("z", 1),
        client.bzmpop(1, 2, ["none", "z"], max=True),
        client.xread({"s": "0"}),
        client.xread({"none": "0"}),
        client.xreadgroup("streams", "store", {"s": ">"}),
        client.xack("s", "streams", "1-1"),
        client.xinfo_stream("s")["length"],
        client.sort("members", by="w_*", get=["#", "o_*"], alpha=True, groups=True),
        client.sort("members", alpha=True, store="sorted"),
        client.lrange("sorted", 0, -1),
        client.georadiusbymember("g", "STORE", 1, "m", store="near"),
        client.zrange("near", 0, -1),
        client.object("encoding", "w_a"),
        client.memory_usage("w_a") is not None,
        client.copy("w_a", "w_c"),
        client.rename("w_c", "w_d"),
        client.type("w_d"),
        client.exists("w_a", "w_d", "absent"),
        client.eval("return redis.call('SET', KEYS[1], ARGV[1])", 1, "e", "v"),
        client.bitop("NOT", "bits", "w_a"),
        client.zunionstore("union", ["z", "near"]),
        client.lcs("w_a", "w_b"),
        client.pubsub_numsub("c"),
        client.pubsub_channels(),
        client.delete("absent"),
        client.dump("w_a") is not None,
        sorted(client.keys()),
    ]


@pytest.mark.parametrize("decode", [True, False])
def test_results_are_those_of_a_bare_client(server: Server, decode: bool) -> None:
    with redis.Redis(**server.options, decode_responses=decode) as client:
        expected = results(client)
        client.flushall()
        found = results(namespaced(client, "shop"))
        assert len(found) == len(expected)
        assert found == expected
        assert all(key.startswith(b"shop:") for key in server.keys)


def test_scripts(server: Server, shop: Any) -> None:
    script = shop.register_script("redis.call('SET', KEYS[1], ARGV[1]) return KEYS[1]")
    assert script(keys=["a"], args=["shop:v"]) == "shop:a"
    assert script(keys=["a"], args=["v"]) == "shop:a"
    server.bare.script_flush()
    with shop.pipeline() as pipe:
        script(keys=["b"], args=["v"], client=pipe)
        pipe.get("b")
        assert pipe.execute() == ["shop:b", "v"]
    assert server.keys == [b"shop:a", b"shop:b"]


def test_locks(server: Server, client: Any, shop: Any) -> None:
    other = namespaced(client, "other")
    with shop.lock("l", timeout=10) as lock:
        assert server.keys == [b"shop:l"]
        assert lock.owned() and lock.reacquire() and lock.extend(5)
        assert not shop.lock("l", blocking=False).acquire()
        with other.lock("l", timeout=10):
            assert server.keys == [b"other:l", b"shop:l"]
    assert server.keys == []


def test_whole_database_commands_stay_inside(server: Server, client: Any, shop: Any) -> None:
    other = namespaced(client, "shopping")
    shop.mset({"a": 1, "b": 2})
    other.set("c", 3)
    server.bare.set("d", 4)
    assert [shop.dbsize(), other.dbsize()] == [2, 1]
    assert {shop.randomkey() for _ in range(20)} <= {"a", "b"}
    assert shop.flushdb() is True
    assert server.keys == [b"d", b"shopping:c"]
    assert shop.randomkey() is None
    assert shop.dbsize() == 0
    server.bare.mset({f"many:{n}": n for n in range(3000)})
    shop.set("one", 1)
    assert shop.randomkey() == "one"


def test_a_large_namespace_is_removed_batch_by_batch(server: Server, shop: Any) -> None:
    shop.mset({str(n): n for n in range(5000)})
    server.bare.set("other", 1)
    assert shop.dbsize() == 5000
    shop.flushdb(asynchronous=True)
    assert server.keys == [b"other"]


def test_unknown_commands_are_refused_and_can_be_allowed(
    server: Server, client: Any, shop: Any
) -> None:
    for send in (shop, shop.pipeline()):
        with pytest.raises(UnknownCommand, match=r'allow=\["NO\.SUCH"\]'):
            send.execute_command("NO.SUCH", "doc")
            send.execute()
    with pytest.raises(UnknownCommand):
        shop.json().get("doc")
    modules = shop.json().pipeline()
    modules.get("doc")
    with pytest.raises(UnknownCommand):
        modules.execute()
    # redis-py sends no word for an empty one.
    with pytest.raises(CommandNotAllowed):
        shop.execute_command("", "FLUSHALL")
    allowing = namespaced(client, "shop", commands={"NO.SUCH": [["key", 1, 1, 1]]})
    with pytest.raises(redis.ResponseError, match=r"unknown command.*shop:doc"):
        allowing.execute_command("NO.SUCH", "doc")
    with pytest.raises(redis.ResponseError, match=r"unknown command.*'doc"):
        namespaced(client, "shop", allow=["no.such"]).execute_command("NO.SUCH", "doc")


def test_commands_of_the_whole_server_are_refused_and_can_be_allowed(
    client: Any, shop: Any
) -> None:
    for refused in (shop.flushall, shop.monitor, shop.client_list, shop.script_flush):
        with pytest.raises(CommandNotAllowed):
            refused()
    with pytest.raises(CommandNotAllowed):
        shop.config_get("maxmemory")
    assert namespaced(client, "shop", allow=["CONFIG GET"]).config_get("maxmemory")
    assert namespaced(client, "shop", allow=["config"]).config_get("maxmemory")
    assert namespaced(client, "shop", allow=["FLUSHALL"]).flushall()
    with namespaced(client, "shop", allow=["MONITOR"]).monitor() as monitor:
        shop.get("a")
        assert "GET shop:a" in (told["command"] for told in monitor.listen())


def test_namespaces_nest(server: Server, client: Any, shop: Any) -> None:
    for inner in (namespaced(client, ["shop", "eu"]), namespaced(shop, "eu")):
        inner.set("a", 1)
        assert server.keys == [b"shop:eu:a"]
        assert inner.keys("*") == ["a"]
        assert shop.keys("*") == ["eu:a"]
        assert inner.pipeline().get("a").keys("*").execute() == ["1", ["a"]]
        assert [inner.dbsize(), inner.randomkey(), inner.flushdb()] == [1, "a", True]
        assert server.keys == []


def test_a_namespace_that_is_asked_for(server: Server, client: Any) -> None:
    tenant = ContextVar[str | None]("tenant", default=None)
    shop = namespaced(client, tenant.get)
    with pytest.raises(InvalidArgument):
        shop.set("k", 1)
    with pytest.raises(InvalidArgument):
        shop.ping()
    tenant.set("a")
    shop.set("k", 1)
    tenant.set("b")
    shop.set("k", 2)
    assert server.keys == [b"a:k", b"b:k"]
    assert shop.get("k") == "2"
    assert shop.keys("*") == ["k"]
    nested = namespaced(client, ["all", tenant.get])
    nested.set("k", 3)
    assert nested.keys("*") == ["k"]
    assert b"all:b:k" in server.keys


@pytest.mark.parametrize("wrong", [None, "", [], 5, b"shop", ["a", ""], ["a", None]])
def test_what_is_no_namespace(client: Any, wrong: Any) -> None:
    with pytest.raises(InvalidArgument):
        namespaced(client, wrong)


def test_what_is_no_client(client: Any) -> None:
    for wrong in (client.pipeline(), client.pubsub(), None):
        with pytest.raises(InvalidArgument):
            namespaced(wrong, "shop")  # type: ignore[type-var]
    with pytest.raises(InvalidArgument):
        namespaced(client, "shop", allow="FLUSHALL")
    with pytest.raises(InvalidArgument):
        namespaced(client, "shop", commands={"X": [["nonsense", 1]]})


def test_threads(server: Server, shop: Any) -> None:
    def write(thread: int) -> None:
        for n in range(100):
            shop.set(f"{thread}-{n}", n)
            assert shop.pipeline().get(f"{thread}-{n}").execute() == [str(n)]

    together(*[lambda thread=thread: write(thread) for thread in range(4)])
    assert shop.dbsize() == 400
    assert all(key.startswith(b"shop:") for key in server.keys)


def test_a_fork(server: Server, shop: Any) -> None:
    shop.set("a", 1)
    child = os.fork()
    if child == 0:
        os._exit(0 if shop.incr("a") == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert server.keys == [b"shop:a"]
    assert shop.get("a") == "2"


def test_what_was_set_on_the_client_is_kept(server: Server) -> None:
    class Mine(redis.Redis):
        def __init__(self, label: str, **options: Any) -> None:
            super().__init__(**options)
            self.label = label

    mine = Mine("mine", **server.options)
    mine.set_response_callback("GET", lambda value, **_: ("got", value))
    shop = namespaced(mine, "shop")
    assert_type(shop, Mine)
    assert type(shop) is Mine and shop.label == "mine"
    found: Any = shop.get("a")
    assert found == ("got", None)
    mine.close()


def test_the_client_side_cache(server: Server) -> None:
    if server.protocol == 2 or server.bare.info()["redis_version"] < "7.4":
        pytest.skip("Redis 7.4 and RESP3 only")
    with redis.Redis(**server.options, cache_config=redis.cache.CacheConfig()) as client:
        try:
            client.get("x")
        except redis.ConnectionError:
            pytest.skip("Redis only")
        shop, other = namespaced(client, "shop"), namespaced(client, "other")
        shop.set("a", 1)
        other.set("a", 2)
        assert [shop.get("a"), shop.get("a"), other.get("a")] == [b"1", b"1", b"2"]
        server.bare.set("shop:a", 3)
        server.bare.ping()
        assert shop.get("a") == b"3"


@pytest.mark.parametrize("kind", [redis.RedisCluster, redis.asyncio.RedisCluster])
def test_a_cluster_is_refused_with_the_reason(kind: Any) -> None:
    # One that has never connected.
    cluster = object.__new__(kind)
    with pytest.raises(InvalidArgument, match="finds the node by the key"):
        namespaced(cluster, "shop")


def test_a_client_that_asks_a_sentinel(server: Server) -> None:
    with sentinel(server.port) as port:
        kind: Any = Sentinel
        asked = kind([("127.0.0.1", port)], sentinel_kwargs={"protocol": server.protocol})
        with asked.master_for("main", protocol=server.protocol, decode_responses=True) as client:
            shop = namespaced(client, "shop")
            shop.set("a", 1)
            assert shop.keys() == ["a"]
            assert server.keys == [b"shop:a"]
