"""Cached reads of redis-py's clients over real servers (spec/reads.md)."""

import gc
import json
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
import redis
from redis._parsers import _HiredisParser, _RESP3Parser
from redis.cache import CacheConfig
from servers import INSTALLED, Server, started

from polycache import InvalidArgument
from polycache._native import reply_json
from polycache.reads import UncacheableRead, cached, synchronous
from polycache.reads.functions import function_name, options_name
from polycache.reads.landed import json_of
from polycache.reads.plan import said
from polycache.redis_namespace import namespaced

pytestmark = pytest.mark.skipif(not INSTALLED, reason="no server is installed")
PATIENCE = 20.0
ROOT = Path(__file__).parents[2]
_NUMBER = iter(range(10**6))
_CLIENTS: list[redis.Redis] = []


@pytest.fixture(scope="module", params=INSTALLED)
def shared(request: pytest.FixtureRequest) -> Iterator[Server]:
    with started(request.param) as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Iterator[Server]:
    with plain(shared) as client:
        client.flushall()
    yield shared
    gc.collect()


@pytest.fixture
def own() -> Iterator[Server]:
    """A server that the test may stop."""
    with started(INSTALLED[0]) as server:
        yield server
    gc.collect()


def plain(server: Server) -> redis.Redis:
    return ours(redis.Redis(port=server.port, decode_responses=True))


def ours(client: redis.Redis) -> redis.Redis:
    """One that is closed when its test has ended: left to the collector, a socket may be found
    before the connection that would close it."""
    _CLIENTS.append(client)
    return client


@pytest.fixture(autouse=True)
def clients_are_closed() -> Iterator[None]:
    yield
    while _CLIENTS:
        _CLIENTS.pop().close()


def options(**given: Any) -> dict[str, Any]:
    prefix = f"reads-{os.getpid()}-{next(_NUMBER)}"
    return {"prefix": prefix, "timeout": "5s", "max_staleness": "10s"} | given


def until(what: str, holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.002)


def keeping(reads: Any, read: Callable[[], object]) -> None:
    """Waits until a read is kept."""

    def look() -> bool:
        before = reads.stats().memory_hits
        read()
        read()
        return bool(reads.stats().memory_hits > before)

    until("the reply is kept", look)


def fill(client: redis.Redis | redis.RedisCluster, of: str = "k") -> None:
    for name in ("one", "two", "three"):
        client.xadd(f"{of}:x", {"name": name, "n": "1"})
    client.hset(f"{of}:h", mapping={"a": "1", "b": "zwei", "ü": "ö"})
    client.rpush(f"{of}:l", "a", "b", "c", "a")
    client.zadd(f"{of}:z", {"a": 1, "b": 2.5, "c": float("inf")})
    client.zadd(f"{of}:y", {"b": 1})
    client.sadd(f"{of}:s", "m", "n")
    client.sadd(f"{of}:r", "m")
    client.set(f"{of}:t", "text")
    client.set(f"{of}:u", "tempest")
    client.geoadd(f"{of}:g", (13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania"))
    client.pfadd(f"{of}:p", "a", "b")
    # It writes what it has counted, once.
    client.pfcount(f"{of}:p")


SCRIPT = "return {redis.call('get', KEYS[1]), ARGV[1], 7}"
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def call(method: str, *args: Any, **options: Any) -> Call:
    return method, args, options


CALLS: list[Call] = [
    call("bitcount", "k:t"),
    call("bitfield_ro", "k:t", "u8", 0),
    call("bitpos", "k:t", 1),
    call("dump", "k:t"),
    call("eval_ro", SCRIPT, 1, "k:t", "x"),
    call("exists", "k:t", "k:none"),
    call("geodist", "k:g", "Palermo", "Catania", unit="km"),
    call("geohash", "k:g", "Palermo"),
    call("geopos", "k:g", "Palermo", "none"),
    call("execute_command", "GEORADIUS_RO", "k:g", 15, 37, 200, "km"),
    call("execute_command", "GEORADIUSBYMEMBER_RO", "k:g", "Palermo", 200, "km"),
    call("geosearch", "k:g", longitude=15, latitude=37, radius=200, unit="km", withdist=True),
    call("get", "k:t"),
    call("get", "k:none"),
    call("getbit", "k:t", 3),
    call("getrange", "k:t", 0, 1),
    call("hexists", "k:h", "a"),
    call("hget", "k:h", "b"),
    call("hgetall", "k:h"),
    call("hkeys", "k:h"),
    call("hlen", "k:h"),
    call("hmget", "k:h", ["a", "none"]),
    call("hmget", "k:h", "a", "none"),
    call("hstrlen", "k:h", "b"),
    call("hvals", "k:h"),
    call("lcs", "k:t", "k:u"),
    call("lindex", "k:l", 1),
    call("llen", "k:l"),
    call("lpos", "k:l", "a", count=2),
    call("lrange", "k:l", 0, -1),
    call("mget", "k:t", "k:none"),
    call("mget", ["k:t", "k:u"]),
    call("pfcount", "k:p"),
    call("scard", "k:s"),
    call("sdiff", "k:s", "k:r"),
    call("sinter", "k:s", "k:r"),
    call("sintercard", 2, ["k:s", "k:r"]),
    call("sismember", "k:s", "m"),
    call("smembers", "k:s"),
    call("smismember", "k:s", "m", "none"),
    call("execute_command", "SORT_RO", "k:l", "ALPHA"),
    call("strlen", "k:t"),
    call("substr", "k:t", 1, 2),
    call("sunion", "k:s", "k:r"),
    call("type", "k:t"),
    call("xlen", "k:x"),
    call("xrange", "k:x", "-", "+"),
    call("xrange", "k:x", count=2),
    call("xread", {"k:x": "0"}, count=2),
    call("xrevrange", "k:x"),
    call("zcard", "k:z"),
    call("zcount", "k:z", "-inf", "+inf"),
    call("zdiff", ["k:z", "k:y"]),
    call("zinter", ["k:z", "k:y"], withscores=True),
    call("zintercard", 2, ["k:z", "k:y"]),
    call("zlexcount", "k:z", "-", "+"),
    call("zmscore", "k:z", ["a", "none"]),
    call("zrange", "k:z", 0, -1),
    call("zrange", "k:z", 0, -1, withscores=True),
    call("zrange", "k:z", 0, -1, desc=True),
    call("zrangebylex", "k:z", "-", "+"),
    call("zrangebyscore", "k:z", "-inf", "+inf", withscores=True),
    call("zrank", "k:z", "b"),
    call("zrevrange", "k:z", 0, -1),
    call("zrevrangebylex", "k:z", "+", "-"),
    call("zrevrangebyscore", "k:z", "+inf", "-inf"),
    call("zrevrank", "k:z", "b"),
    call("zscore", "k:z", "c"),
    call("zunion", ["k:z", "k:y"], withscores=True),
    call("execute_command", "LRANGE", "k:l", "0", "-1"),
]
CLIENTS: dict[str, dict[str, Any]] = {
    "bytes": {},
    "text": {"decode_responses": True},
    "RESP3": {"protocol": 3, "decode_responses": True},
}


def test_every_command_is_tried() -> None:
    with_method = {name for name in said()["reads"] if hasattr(redis.Redis, name.lower())}
    tried = {method.upper() for method, _, _ in CALLS}
    # A script has to be known to the server first. redis-py's `sort_ro` sends SORT.
    assert with_method - tried <= {"EVALSHA_RO", "SORT_RO"}


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_hit_is_the_clients_reply(kind: str, server: Server, tmp_path: Path) -> None:
    fill(plain(server))
    client = ours(redis.Redis(port=server.port, **CLIENTS[kind]))
    given = options(path=tmp_path, limit="16MiB")
    with cached(client, **given) as reads, cached(client, **given) as other:
        keeping(reads, lambda: reads.get("k:t"))
        for method, args, named in CALLS:
            expected = getattr(client, method)(*args, **named)
            assert getattr(reads, method)(*args, **named) == expected, method
            keeping(reads, partial(getattr(reads, method), *args, **named))
            again = getattr(reads, method)(*args, **named)
            assert again == expected, method
            assert type(again) is type(expected), method
            hits, sent = other.stats().host_hits, other.stats().sent
            assert getattr(other, method)(*args, **named) == expected, method
            stats = other.stats()
            assert stats.sent == sent, method
            assert stats.host_hits + stats.memory_hits > hits, method


def test_a_script_by_its_digest(server: Server) -> None:
    client = plain(server)
    client.set("k", "1")
    digest = client.script_load("return redis.call('get', KEYS[1])")
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.evalsha_ro(digest, 1, "k"))
        assert reads.evalsha_ro(digest, 1, "k") == "1"


def test_every_caller_has_its_own_reply(server: Server) -> None:
    client = plain(server)
    client.rpush("l", "a")
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.lrange("l", 0, -1))
        reads.lrange("l", 0, -1).append("mine")
        assert reads.lrange("l", 0, -1) == ["a"]
    with cached(client, **options(memory={"isolation": "none"})) as reads:
        keeping(reads, lambda: reads.lrange("l", 0, -1))
        assert reads.lrange("l", 0, -1) is reads.lrange("l", 0, -1)


def test_a_reply_is_encoded_once(server: Server) -> None:
    client = plain(server)
    client.xadd("j", {"a": "1"}, id="1-1")
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.json.xrange("j", "-", "+"))
        page = reads.json.xrange("j", "-", "+")
        assert reads.json.xrange("j", "-", "+") is page
        assert page.bytes == b'[["1-1",{"a":"1"}]]'
        client.xadd("j", {"b": "2"}, id="2-1")
        until("it changes", lambda: reads.json.xrange("j", "-", "+").etag != page.etag)
        with pytest.raises(UncacheableRead):
            reads.json.set("j", "1")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"\xffa\xc3\xbc", '"\ufffda\u00fc"'),
        ({"b": 1, "10": 2, "2": 3}, '{"2":3,"10":2,"b":1}'),
        ({"s", "a"}, '["a","s"]'),
        (
            [1.0, 2.5, 1e21, 1e-7, 1e16, 0.00001, -0.0, -1.5e300],
            "[1,2.5,1e+21,1e-7,10000000000000000,0.00001,0,-1.5e+300]",
        ),
        (
            (None, True, float("inf"), -(2**63), 2**63),
            '[null,true,null,-9223372036854775808,"9223372036854775808"]',
        ),
        ({b"\xff": 1, "\ufffd": 2, 3: [], None: {}}, '{"3":[],"\ufffd":2,"null":{}}'),
        ("\ud800\x1f\u2028", '"\\ud800\\u001f\u2028"'),
    ],
)
def test_json_is_typescripts(value: object, text: str) -> None:
    assert reply_json(value) == text.encode()


REPLIES = json.loads((ROOT / "spec" / "vectors" / "replies.json").read_text())


def readable(parser: str, case: dict[str, str]) -> bool:
    """Whether redis-py reads a reply rightly by this parser of its own or of hiredis."""
    if parser == "hiredis":
        return "a name that stands twice" not in case["name"]
    return b"$-1\r\n" not in bytes.fromhex(case["resp"])


@pytest.mark.parametrize("case", REPLIES, ids=[case["name"] for case in REPLIES])
@pytest.mark.parametrize("decodes", [False, True])
@pytest.mark.parametrize("parser", ["hiredis", "redis-py"])
def test_json_of_replies_is_that_of_every_language(
    parser: str, case: dict[str, str], decodes: bool
) -> None:
    """What redis-py reads of what a server sends."""
    if parser == "hiredis":
        pytest.importorskip("hiredis")
    if not readable(parser, case):
        pytest.skip(f"{parser} mistakes it")
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(PATIENCE)
        theirs.sendall(bytes.fromhex(case["resp"]))
        by: Any = _HiredisParser if parser == "hiredis" else _RESP3Parser
        connect: Any = redis.Connection
        connection = connect(
            protocol=3, decode_responses=decodes, encoding_errors="replace", parser_class=by
        )
        connection._sock = ours
        connection._parser.on_connect(connection)
        reply = connection._parser.read_response()
        assert json_of(reply, "document" in case) == case["json"].encode()


# The module JSON answers JSON.GET with a text. So does a server whose GET is called that.
WITH_DOCUMENTS = ["--rename-command", "GET", "JSON.GET"]
DOCUMENTS = ['{"a": [1.50, "ü"],\n "a": 2}', "[]"]


def is_document(reads: Any, text: str) -> bool:
    return bool(reads.json.execute_command("JSON.GET", "doc").bytes == text.encode())


@pytest.mark.parametrize("decodes", [False, True])
@pytest.mark.parametrize("isolation", ["clone", "none"])
def test_the_json_of_a_document_is_its_text(decodes: bool, isolation: str, tmp_path: Path) -> None:
    with started(INSTALLED[0], WITH_DOCUMENTS) as server:
        client = ours(redis.Redis(port=server.port, decode_responses=decodes))
        given = options(path=tmp_path, limit="16MiB", memory={"isolation": isolation})
        with cached(client, **given) as reads, cached(client, **given) as other:

            def document(of: Any) -> str:
                return str(of.json.execute_command("json.get", "doc").bytes, "utf-8")

            assert document(reads) == "null"
            for text in DOCUMENTS:
                client.set("doc", text)
                until("it is shown", partial(is_document, reads, text))
                keeping(reads, partial(document, reads))
                reply = cast(Any, reads).execute_command("JSON.GET", "doc")
                assert reply == (text if decodes else text.encode())
                assert document(other) == text
        gc.collect()


def test_a_document_that_the_client_decodes_is_encoded_again() -> None:
    with started(INSTALLED[0], WITH_DOCUMENTS) as server:
        client = ours(redis.Redis(port=server.port))
        client.json()  # It decodes replies of JSON.GET from now on.
        with cached(client, **options()) as reads:
            for text in ['"hello"', '"12"', '{"a":[1,"ü"]}']:
                client.set("doc", text)
                until("it is shown", partial(is_document, reads, text))
        gc.collect()


def test_what_is_no_reply_has_no_json() -> None:
    with pytest.raises(TypeError, match="object"):
        reply_json([object()])
    nested: list[Any] = []
    for _ in range(10_000):
        nested = [nested]
    with pytest.raises(RecursionError):
        reply_json(nested)


def test_numbers_of_other_types_are_other_calls(server: Server) -> None:
    client = plain(server)
    client.hset("h", mapping={"1": "int", "1.0": "float"})
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.hget("h", 1))
        assert reads.hget("h", 1) == "int"
        assert reads.hget("h", 1.0) == "float"


def test_what_others_write_is_shown(server: Server, tmp_path: Path) -> None:
    client, other = plain(server), plain(server)
    with cached(client, **options(path=tmp_path, limit="16MiB")) as reads:
        changes: list[tuple[Callable[[], object], str | None]] = [
            (lambda: other.set("a", "1"), "1"),
            (lambda: other.append("a", "3"), "13"),
            (lambda: other.delete("a"), None),
            (lambda: other.set("a", "4", px=300), "4"),
            (lambda: None, None),
            (lambda: other.set("a", "5"), "5"),
            (other.flushall, None),
            (lambda: other.set("a", "6"), "6"),
        ]
        for change, then in changes:
            change()
            until(f"it is {then}", lambda then=then: reads.get("a") == then)  # type: ignore[misc]
            if then != "4":
                keeping(reads, lambda: reads.get("a"))


def test_many_threads_make_one_round_trip(server: Server) -> None:
    client = plain(server)
    client.rpush("many", "a")
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.get("other"))
        client.config_resetstat()
        barrier = threading.Barrier(100)
        found: list[object] = []

        def read() -> None:
            barrier.wait()
            found.append(reads.lrange("many", 0, -1))

        threads = [threading.Thread(target=read) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [["a"]] * 100
        assert client.info("commandstats")["cmdstat_lrange"]["calls"] == 1


def test_a_read_that_hangs_holds_only_its_own_caller(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = plain(server)
    client.rpush("slow", "a")
    monkeypatch.setattr(synchronous, "PATIENCE", 0.01)
    with cached(client, **options()) as reads, ThreadPoolExecutor(2) as pool:
        keeping(reads, lambda: reads.get("other"))
        sent, gone_on = hanging_first(reads, monkeypatch, threading.Event(), threading.Event())
        hangs = pool.submit(reads.lrange, "slow", 0, -1)
        assert sent.wait(PATIENCE)
        try:
            other = pool.submit(reads.lrange, "slow", 0, -1)
            assert other.result(timeout=PATIENCE) == ["a"]
        finally:
            gone_on.set()
        assert hangs.result(timeout=PATIENCE) == ["a"]


def test_an_error_that_is_a_threads_own_fails_no_others_read(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Limit(Exception):
        """As signal handlers raise it, for a limit of time."""

    plain(server).rpush("limited", "a")
    client = plain(server)
    with cached(client, **options()) as reads, ThreadPoolExecutor(2) as pool:
        keeping(reads, lambda: reads.get("other"))
        sent, gone_on = hanging_first(reads, monkeypatch, threading.Event(), threading.Event())
        real = gone_on.wait

        def wait() -> None:
            real()
            raise Limit

        monkeypatch.setattr(gone_on, "wait", wait)
        limited = pool.submit(reads.lrange, "limited", 0, -1)
        assert sent.wait(PATIENCE)
        joined = reads.stats().joined
        other = pool.submit(reads.lrange, "limited", 0, -1)
        until("the other waits for it", lambda: reads.stats().joined > joined)
        gone_on.set()
        assert isinstance(limited.exception(timeout=PATIENCE), Limit)
        assert other.result(timeout=PATIENCE) == ["a"]


def test_a_thread_that_is_interrupted_leaves_the_connection_in_step(server: Server) -> None:
    class Limit(BaseException):
        """As signal handlers raise it, for a limit of time."""

    class Interrupted(redis.Connection):
        is_now = False

        def read_response(self, *args: Any, **given: Any) -> Any:
            if Interrupted.is_now:
                Interrupted.is_now = False
                raise Limit
            return super().read_response(*args, **given)

    other = plain(server)
    other.mset({"k": "1", "other": "2"})
    pool = redis.ConnectionPool(port=server.port, connection_class=Interrupted)
    client = ours(redis.Redis(connection_pool=pool))
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.get("other"))
        # Its replies come when the next command has been sent.
        other.client_pause(100)
        Interrupted.is_now = True
        with pytest.raises(Limit):
            reads.get("k")
        assert client.get("other") == b"2"
        assert reads.get("k") == b"1"


def hanging_first(
    reads: Any, monkeypatch: pytest.MonkeyPatch, sent: threading.Event, gone_on: threading.Event
) -> tuple[threading.Event, threading.Event]:
    """Lets the first read that is sent wait for its reply until it may go on."""
    real, is_first = reads._reads.pipeline, iter([True])

    def pipeline(*args: Any) -> Any:
        pipe, asked = real(*args)
        execute = pipe.execute

        def hanging(**given: Any) -> Any:
            sent.set()
            gone_on.wait()
            return execute(**given)

        if next(is_first, False):
            pipe.execute = hanging
        return pipe, asked

    monkeypatch.setattr(reads._reads, "pipeline", pipeline)
    return sent, gone_on


def test_what_was_forgotten_is_read_anew(server: Server) -> None:
    client = plain(server)
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.get("own"))
        for number in range(20):
            client.set("own", number)
            reads.forget("own")
            assert reads.get("own") == str(number)


def test_namespaces(server: Server) -> None:
    client = plain(server)
    client.set("ns:a", "1")
    client.xadd("ns:x", {"f": "1"}, id="1-1")
    view = namespaced(client, "ns")
    with cached(view, **options(prefixes=["a", "x"])) as reads:
        keeping(reads, lambda: reads.get("a"))
        client.set("ns:a", "2")
        until("the write is shown", lambda: reads.get("a") == "2")
        expected = view.xread({"x": "0"})
        keeping(reads, lambda: reads.xread({"x": "0"}))
        assert reads.xread({"x": "0"}) == expected
        with pytest.raises(InvalidArgument, match="prefixes"):
            reads.get("b")
    tenant = "one"
    with cached(namespaced(client, lambda: tenant), **options()) as reads:
        client.mset({"one:k": "1", "two:k": "2"})
        keeping(reads, lambda: reads.get("k"))
        tenant = "two"
        assert reads.get("k") == "2"
        tenant = "one"
        assert reads.get("k") == "1"


def test_what_cannot_be_cached_says_why(own: Server) -> None:
    client = plain(own)
    with cached(client, **options(prefixes=["a:"])) as reads:
        for method, args, why in [
            ("srandmember", ("a:s",), "random"),
            ("ttl", ("a:s",), "time"),
            ("set", ("a:s", "1"), "not known"),
            ("execute_command", ("SET", "a:s", "1"), "not known"),
            ("execute_command", ("XREAD", "BLOCK", 0, "STREAMS", "a:s", "0"), "BLOCK"),
            ("execute_command", ("SORT_RO", "a:s", "BY", "w_*"), "BY"),
        ]:
            with pytest.raises(UncacheableRead, match=why):
                getattr(reads, method)(*args)
        with pytest.raises(UncacheableRead, match="BLOCK"):
            reads.xread({"a:s": "0"}, block=1)
        with pytest.raises(InvalidArgument, match="prefixes"):
            reads.get("b")
        with pytest.raises(AttributeError):
            reads.nonsense  # type: ignore[attr-defined]  # noqa: B018
    assert client.exists("a:s") == 0


def test_refused_clients(own: Server) -> None:
    sentinel: Any = redis.sentinel.Sentinel(
        [  # type: ignore[no-untyped-call]
            ("127.0.0.1", own.port)
        ]
    )
    caching = ours(redis.Redis(port=own.port, protocol=3, cache_config=CacheConfig()))
    alone = ours(redis.Redis(port=own.port, single_connection_client=True))
    for client, why in [
        (object(), "redis.Redis"),
        (plain(own).pipeline(), "pipeline"),
        (sentinel.master_for("m"), "Sentinel"),
        (caching, "cache_config"),
        (alone, "single_connection_client"),
        (redis.asyncio.Redis(single_connection_client=True), "single_connection_client"),
    ]:
        with pytest.raises(InvalidArgument, match=why):
            cached(client)
    wrongs: list[dict[str, Any]] = [
        {"ttl": 1},
        {"prefixes": "a"},
        {"prefixes": []},
        {"memory": False},
        {"memory": {"isolation": "copy"}},
    ]
    for wrong in wrongs:
        with pytest.raises(InvalidArgument):
            cached(plain(own), **wrong)


def test_errors_are_the_clients(own: Server) -> None:
    client = plain(own)
    client.hset("h", "a", "1")
    with cached(client, **options(timeout="250ms")) as reads:
        keeping(reads, lambda: reads.hgetall("h"))
        with pytest.raises(redis.ResponseError, match=r"^WRONGTYPE"):
            reads.get("h")
        own.stop()
        with pytest.raises(redis.ConnectionError):
            reads.get("x")
        own.start()
        until("it reads again", lambda: _reads(reads, "x"))
        keeping(reads, lambda: reads.get("x"))


def _reads(reads: Any, key: str) -> bool:
    try:
        reads.get(key)
    except redis.ConnectionError:
        return False
    return True


def test_an_error_of_a_callback_leaves_the_connection_in_step(server: Server) -> None:
    client = ours(redis.Redis(port=server.port, max_connections=1))
    client.set_response_callback("GET", json.loads)
    client.mset({"a": '"A"', "b": '"B"'})
    client.zadd("z", {"m": float("inf")})
    with cached(client, **options()) as reads:
        keeping(reads, lambda: reads.exists("a"))
        for _ in range(2):
            with pytest.raises(TypeError):
                reads.get("none")
            assert [client.get("a"), client.get("b"), client.exists("a")] == ["A", "B", 1]
            with pytest.raises(OverflowError):
                reads.zrange("z", 0, -1, withscores=True, score_cast_func=int)
            assert [reads.get("a"), reads.get("b"), client.exists("a")] == ["A", "B", 1]


def test_functions_without_a_name_are_told_apart(server: Server, tmp_path: Path) -> None:
    client = ours(redis.Redis(port=server.port))
    client.zadd("z", {"a": 1, "b": 2})
    given = options(path=tmp_path, limit="16MiB")
    with cached(client, **given) as reads, cached(client, **given) as other:
        keeping(reads, lambda: reads.zcard("z"))

        def scaled(of: Any, by: int) -> object:
            return of.zrange("z", 0, -1, withscores=True, score_cast_func=lambda s: float(s) * by)

        for _ in range(2):
            for by in (1, 10, 100):
                refused = reads.stats().uncached.refused
                assert scaled(reads, by) == scaled(client, by)
                assert reads.stats().uncached.refused == refused + 1
        # By its name.
        named = partial(reads.zrange, "z", 0, -1, withscores=True, score_cast_func=int)
        keeping(reads, named)
        sent = other.stats().sent
        found = other.zrange("z", 0, -1, withscores=True, score_cast_func=int)
        assert found == [[b"a", 1], [b"b", 2]] or found == [(b"a", 1), (b"b", 2)]
        assert other.stats().sent == sent


def times(by: int) -> Callable[..., int]:
    return lambda reply: int(reply) * by


def test_callbacks_of_one_line_are_told_apart(server: Server, tmp_path: Path) -> None:
    clients = [ours(redis.Redis(port=server.port)) for _ in range(2)]
    clients[0].set("n", 5)
    given = options(path=tmp_path, limit="16MiB")
    one: Any
    other: Any
    with cached(clients[0], **given) as one, cached(clients[1], **given) as other:
        for by in (2, 10):
            clients[0].set_response_callback("GET", times(by))
            clients[1].set_response_callback("GET", times(by + 1))
            for _ in range(2):
                assert one.get("n") == 5 * by
                keeping(one, lambda: one.get("n"))
                assert other.get("n") == 5 * (by + 1)
                keeping(other, lambda: other.get("n"))
        for reads in (one, other):
            assert reads.execute_command("get", "n") == reads.get("n")
            # redis-py has no callbacks for names in bytes.
            keeping(reads, lambda reads=reads: reads.execute_command(b"GET", "n"))  # type: ignore[misc]
            assert reads.execute_command(b"GET", "n") == b"5"


def test_a_method_that_sends_another_command_has_its_callback(server: Server) -> None:
    client = ours(redis.Redis(port=server.port))
    client.zadd("z", {"a": 1})
    with cached(client, **options()) as reads:
        for of in (len, repr):
            client.set_response_callback("ZREVRANGE", lambda reply, of=of, **_: of(reply))
            for _ in range(2):
                found: Any = cast(Any, reads).zrange("z", 0, -1, desc=True)
                assert found == of([b"a"])
                keeping(reads, lambda: reads.zrange("z", 0, -1, desc=True))


def test_words_of_calls_count_in_memory(server: Server) -> None:
    client = plain(server)
    with cached(client, **options(memory={"max_bytes": "100KiB"})) as reads:

        def read(number: int, length: int) -> object:
            return reads.exists(str(number) + "k" * length)

        # As many are kept as there is room for words of that length.
        keeping(reads, partial(read, 0, 10_000))
        for number in range(1, 50):
            keeping(reads, partial(read, number, 10_000))
        memory = cast(Any, reads)._reads.kept._memory
        assert 0 < len(memory) < 12
        names = [f"{number}-{'k' * 1_000}" for number in range(200)]
        reads.mget(names)
        hits = reads.stats().memory_hits
        reads.mget(names)
        assert reads.stats().memory_hits == hits


def test_more_keys_than_are_kept_as_one_are_read_and_not_kept(server: Server) -> None:
    client = plain(server)
    client.set("k1024", "the last one")
    with cached(client, **options()) as reads:
        keys = [f"k{number}" for number in range(1025)]
        keeping(reads, partial(reads.mget, keys[:1024]))
        refused = reads.stats().uncached.refused
        for times in (1, 2):
            found = reads.mget(keys)
            assert (len(found), found[-1]) == (1025, "the last one")
            assert json.loads(reads.json.mget(keys).bytes) == found
            assert reads.stats().uncached.refused == refused + 2 * times
        client.set("k1024", "another one")
        assert reads.mget(keys)[-1] == "another one"


def test_names_of_functions() -> None:
    assert function_name(int) == "builtins.int:"
    assert str(function_name(json.loads)).startswith("json.loads:")
    assert str(function_name(times)).startswith(f"{__name__}.times:")
    for unnamed in (times(1), partial(int), "a".join, json.JSONDecoder().decode, 7):
        assert function_name(unnamed) is None
    for protocol in (None, 2, 3):
        for legacy in (True, False):
            client = ours(redis.Redis(protocol=protocol, legacy_responses=legacy))
            for command, callback in client.response_callbacks.items():
                assert function_name(callback), command
    assert options_name({"b": 1, "a": (True, "x", {"f": int})}) == options_name(
        {"a": (True, "x", {"f": int}), "b": 1}
    )
    assert options_name({"a": [object()]}) is None


def test_no_server(own: Server) -> None:
    own.stop()
    with (
        cached(ours(redis.Redis(port=own.port)), **options(timeout="250ms")) as reads,
        pytest.raises(redis.ConnectionError),
    ):
        reads.get("x")


@pytest.mark.skipif("redis-server-8" not in INSTALLED, reason="needs Redis 8")
def test_hashes_whose_fields_may_expire_are_not_kept() -> None:
    with started("redis-server-8") as server:
        client = plain(server)
        client.hset("h", mapping={"a": "1", "b": "2"})
        with cached(client, **options()) as reads:
            keeping(reads, lambda: reads.hgetall("h"))
            client.hpexpire("h", 200, "a")
            until("the field is gone", lambda: reads.hgetall("h") == {"b": "2"})
            refused = reads.stats().uncached.refused
            client.hpexpire("h", 100_000, "b")

            def refuses() -> bool:
                reads.hgetall("h")
                return reads.stats().uncached.refused > refused

            until("it is not kept", refuses)


def _process(port: int, given: dict[str, Any], wanted: Any, seen: Any) -> None:
    reads = cached(redis.Redis(port=port, decode_responses=True), **given)
    keeping(reads, lambda: reads.get("k"))
    seen.put("keeps")
    while (value := wanted.get()) is not None:
        until(f"it is {value}", lambda value=value: reads.get("k") == value)  # type: ignore[misc]
        seen.put(value)


def test_processes_share_and_outlive_their_leader(own: Server, tmp_path: Path) -> None:
    client = plain(own)
    client.set("k", "first")
    given = options(path=tmp_path, limit="16MiB", max_staleness="2s")
    context = multiprocessing.get_context("spawn")
    wanted, seen = context.Queue(), context.Queue()
    child = context.Process(target=_process, args=(own.port, given, wanted, seen))
    child.start()
    assert seen.get(timeout=PATIENCE) == "keeps"
    with cached(client, **given) as reads:
        assert reads.get("k") == "first"
        until("the host has it", lambda: reads.stats().host_hits + reads.stats().memory_hits)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        client.set("k", "second")
        until("the write is shown", lambda: reads.get("k") == "second")
        keeping(reads, lambda: reads.get("k"))


@pytest.mark.parametrize("has_path", [True, False])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_reads(own: Server, tmp_path: Path, has_path: bool) -> None:
    client = plain(own)
    client.set("k", "first")
    given = options(path=tmp_path, limit="16MiB") if has_path else options()
    with cached(client, **given) as reads:
        keeping(reads, lambda: reads.get("k"))
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                assert reads.get("k") == "first"
                keeping(reads, lambda: reads.get("k"))
                os.write(tell, b"x")
                until("the write is shown", lambda: reads.get("k") == "second")
                status = 0
            finally:
                os._exit(status)
        os.close(tell)
        assert os.read(told, 1) == b"x"
        os.close(told)
        client.set("k", "second")
        _, status = os.waitpid(child, 0)
        assert status == 0
        until("the write is shown", lambda: reads.get("k") == "second")


def test_the_table_is_the_specifications() -> None:
    assert said() == json.loads((ROOT / "spec" / "reads.json").read_text())
