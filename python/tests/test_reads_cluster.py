"""Cached reads of redis-py's clients of a Cluster: three primaries, each with a replica."""

import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any, cast

import pytest
import redis
import redis.asyncio
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.cache import CacheConfig
from redis.cluster import LoadBalancingStrategy, RedisCluster
from redis.crc import key_slot
from servers import PROGRAMS, Server, cluster, free_port, started
from test_reads import CALLS, CLIENTS, PATIENCE, fill, options, times

from polycache import InvalidArgument
from polycache.reads import UncacheableRead, cached

pytestmark = pytest.mark.skipif(
    not (which(PROGRAMS[0]) and which("redis-cli")), reason="no server is installed"
)
KINDS = ["client", "async client"]
LOST = (redis.ConnectionError, redis.TimeoutError, redis.ResponseError)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    folder = tmp_path_factory.mktemp("cluster")
    with cluster(folder, ["--cluster-node-timeout", "2000"], replicas=1) as nodes:
        yield nodes
    gc.collect()


class Ours:
    """Cached reads of a client of either kind, called without asyncio."""

    def __init__(self, kind: str, nodes: list[Server], given: dict[str, Any], **how: Any) -> None:
        self.loop = asyncio.new_event_loop() if kind == "async client" else None
        live = next(node for node in nodes if node.process.poll() is None)
        self.client: Any = (RedisCluster if self.loop is None else AsyncRedisCluster)(
            host="127.0.0.1", port=live.port, **how
        )
        self.reads: Any = cached(self.client, **given)

    def run(self, method: Callable[..., Any], *args: Any, **named: Any) -> Any:
        made = method(*args, **named)
        if self.loop is None or not isinstance(made, Awaitable):
            return made

        async def awaited() -> Any:
            return await made

        return self.loop.run_until_complete(awaited())

    def __getattr__(self, name: str) -> Any:
        return partial(self.run, getattr(self.reads, name))

    def __enter__(self) -> "Ours":
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self.reads.close)
        self.run(self.client.close if self.loop is None else self.client.aclose)
        if self.loop is not None:
            self.loop.close()

    def keeping(self, read: Callable[[], object]) -> object:
        """Waits until a read is kept, and gives its reply."""
        value: object = None

        def look() -> bool:
            nonlocal value
            before = self.reads.stats().memory_hits
            read()
            value = read()
            return bool(self.reads.stats().memory_hits > before)

        until("the reply is kept", look)
        return value


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return cast("str", request.param)


def until(what: str, holds: Callable[[], object], patience: float = PATIENCE) -> None:
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.002)


def plain(node: Server, *words: Any) -> Any:
    """What another program asks one node."""
    with redis.Redis(port=node.port, decode_responses=True) as client:
        return client.execute_command(*words)


def owner(nodes: list[Server], key: str) -> Server:
    for node in nodes:
        try:
            plain(node, "GET", key)
            return node
        except LOST:
            continue
    raise LookupError(key)


def write(nodes: list[Server], key: str, value: str) -> None:
    def written() -> bool:
        try:
            return bool(plain(owner(nodes, key), "SET", key, value))
        except (LookupError, *LOST):
            return False

    # After a primary was killed the others take some seconds to agree.
    until(f"{key} is written", written, 3 * PATIENCE)


def moving(nodes: list[Server], key: str) -> Callable[[], None]:
    """Begins to move a key's slot to another primary; the result moves the key and ends that."""
    source = owner(nodes, key)
    others = [node for node in nodes if node is not source and node.process.poll() is None]
    target = next(node for node in others if plain(node, "ROLE")[0] == "master")
    slot, ids = key_slot(key.encode()), [plain(one, "CLUSTER", "MYID") for one in (source, target)]
    plain(target, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[0])
    plain(source, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[1])

    def move() -> None:
        plain(source, "MIGRATE", "127.0.0.1", target.port, key, 0, 5000)
        for node in (target, source):
            plain(node, "CLUSTER", "SETSLOT", slot, "NODE", ids[1])

    return move


def tagged(word: Any) -> Any:
    """Keys of one slot."""
    if isinstance(word, str) and word.startswith("k:"):
        return "{k}" + word[1:]
    if isinstance(word, list):
        return [tagged(one) for one in word]
    return {tagged(name): one for name, one in word.items()} if isinstance(word, dict) else word


@pytest.mark.parametrize("how", CLIENTS)
def test_a_hit_is_the_clients_reply(
    how: str, kind: str, nodes: list[Server], tmp_path: Path
) -> None:
    with RedisCluster(host="127.0.0.1", port=nodes[0].port) as filler:
        filler.delete(*["{k}:" + name for name in "xhlzysrtugp"])
        fill(filler, "{k}")
    given = options(path=tmp_path, limit="16MiB")
    with (
        Ours(kind, nodes, given, **CLIENTS[how]) as one,
        Ours(kind, nodes, given, **CLIENTS[how]) as other,
    ):
        for method, args, named in CALLS:
            args = tuple(tagged(word) for word in args)
            expected = one.run(getattr(one.client, method), *args, **named)
            assert getattr(one, method)(*args, **named) == expected, method
            again = one.keeping(partial(getattr(one, method), *args, **named))
            assert again == expected, method
            assert type(again) is type(expected), method
            sent = other.stats().sent
            assert getattr(other, method)(*args, **named) == expected, method
            assert other.stats().sent == sent, method


def test_what_others_write_at_any_primary_is_shown(
    kind: str, nodes: list[Server], tmp_path: Path
) -> None:
    keys = [f"c:{number}" for number in range(9)]
    assert len({owner(nodes, key).port for key in keys}) == 3
    given = options(path=tmp_path, limit="16MiB")
    with Ours(kind, nodes, given, decode_responses=True) as reads:
        for value in ("first", "second"):
            for key in keys:
                write(nodes, key, value)
            for key in keys:
                until(f"{key} is shown", lambda key=key, value=value: reads.get(key) == value)  # type: ignore[misc]
                assert reads.keeping(partial(reads.get, key)) == value
        plain(owner(nodes, keys[0]), "FLUSHALL")
        until("nothing is left", lambda: reads.get(keys[0]) is None)


def test_a_redirected_reply_is_not_kept(kind: str, nodes: list[Server]) -> None:
    write(nodes, "moved", "there")
    with Ours(kind, nodes, options(), decode_responses=True) as reads:
        reads.keeping(partial(reads.get, "other"))
        # As if the client's map of slots were old.
        slots = reads.client.nodes_manager.slots_cache
        slot = key_slot(b"moved")
        until("a read would be kept", lambda: reads.reads._reads.native.is_known())
        wrong = next(one for one in slots.values() if one[0] != slots[slot][0])
        right, slots[slot] = slots[slot], wrong
        inner = reads.reads._reads
        read = inner.read("moved", "get", ("moved",), {})
        pipe = inner.way.pipeline(read.prepared, b"moved", 1)
        for words in ((b"PTTL", b"moved"), ("GET", "moved"), ("GETEX", "proof")):
            pipe.execute_command(*words)
        assert reads.run(pipe.execute, raise_on_error=False) == [None, "there", None]
        slots[slot] = right
        pipe = inner.way.pipeline(read.prepared, b"moved", 1)
        for words in ((b"PTTL", b"moved"), ("GET", "moved")):
            pipe.execute_command(*words)
        assert reads.run(pipe.execute, raise_on_error=False) == [-1, "there"]


def test_an_error_of_a_callback_leaves_the_connection_in_step(
    kind: str, nodes: list[Server]
) -> None:
    for key, value in (("{b}:1", '"A"'), ("{b}:2", '"B"')):
        write(nodes, key, value)
    with Ours(kind, nodes, options()) as reads:
        reads.client.set_response_callback("GET", json.loads)
        reads.keeping(partial(reads.exists, "{b}:1"))
        for _ in range(2):
            for method, args, error in [
                ("get", ("{b}:none",), TypeError),
                ("zrange", ("{b}:z", 0, -1), OverflowError),
            ]:
                named = {"withscores": True, "score_cast_func": int} if method == "zrange" else {}
                reads.run(reads.client.zadd, "{b}:z", {"m": float("inf")})
                with pytest.raises(error):
                    getattr(reads, method)(*args, **named)
                for of in (reads.client, reads.reads):
                    for key, value in (("{b}:1", "A"), ("{b}:2", "B")):
                        assert reads.run(of.get, key) == value


def test_callbacks_of_one_line_are_told_apart(kind: str, nodes: list[Server]) -> None:
    write(nodes, "n", "5")
    with Ours(kind, nodes, options()) as reads:
        for by in (2, 10):
            reads.client.set_response_callback("GET", times(by))
            assert reads.get("n") == 5 * by
            assert reads.keeping(partial(reads.get, "n")) == 5 * by


def test_keys_of_several_slots(kind: str, nodes: list[Server]) -> None:
    with Ours(kind, nodes, options(), decode_responses=True) as reads:
        for method in ("mget", "exists", "sunion"):
            with pytest.raises(UncacheableRead, match="several slots"):
                getattr(reads, method)("a", "b")
        with pytest.raises(UncacheableRead, match="target_nodes"):
            reads.execute_command("GET", "a", target_nodes="replicas")


def test_a_slot_that_moves(kind: str, nodes: list[Server], tmp_path: Path) -> None:
    key = f"moves {kind}"
    write(nodes, key, "1")
    given = options(path=tmp_path, limit="16MiB")
    with Ours(kind, nodes, given, decode_responses=True) as reads:
        reads.keeping(partial(reads.get, key))
        for value in ("2", "3"):
            move = moving(nodes, key)
            reads.get(key)
            move()
            write(nodes, key, value)
            until("it is shown", lambda value=value: reads.get(key) == value)  # type: ignore[misc]
            assert reads.keeping(partial(reads.get, key)) == value


@pytest.mark.filterwarnings("ignore:Call to '__init__'")
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"read_from_replicas": True}, "read_from_replicas"),
        (
            {"load_balancing_strategy": LoadBalancingStrategy.ROUND_ROBIN},
            "load_balancing_strategy",
        ),
    ],
)
def test_clients_that_read_from_replicas(
    how: dict[str, Any], why: str, kind: str, nodes: list[Server]
) -> None:
    kinds = {"client": RedisCluster, "async client": AsyncRedisCluster}
    client: Any = kinds[kind](host="127.0.0.1", port=nodes[0].port, **how)
    with pytest.raises(InvalidArgument, match=why):
        cached(client)


def test_pipelines(nodes: list[Server]) -> None:
    for kind in (RedisCluster, AsyncRedisCluster):
        client: Any = kind(host="127.0.0.1", port=nodes[0].port)
        with pytest.raises(InvalidArgument, match="pipeline"):
            cached(client.pipeline())


@pytest.mark.skipif(not which("redis-server-8"), reason="redis-py wants Redis 7.4 for it")
def test_clients_that_keep_replies_themselves(tmp_path: Path) -> None:
    # One node, which owns all slots, is a Cluster, too.
    own = ["--cluster-enabled", "yes", "--cluster-port", str(free_port()), "--dir", str(tmp_path)]
    with started("redis-server-8", own) as node:
        plain(node, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        until("it is up", lambda: "cluster_state:ok" in str(plain(node, "CLUSTER", "INFO")))
        how: dict[str, Any] = {"protocol": 3, "cache_config": CacheConfig()}
        with (
            RedisCluster(host="127.0.0.1", port=node.port, **how) as client,
            pytest.raises(InvalidArgument, match="cache_config"),
        ):
            cached(client)


def test_the_client_stays_open(nodes: list[Server]) -> None:
    client = RedisCluster(host="127.0.0.1", port=nodes[0].port)
    client.set("own", "mine")

    def pools() -> list[Any]:
        primaries = cast("Any", client).get_primaries()
        return [client.get_redis_connection(node).connection_pool for node in primaries]

    before = pools()
    with cached(client, **options()) as reads:
        reads.get("own")
    del reads
    gc.collect()
    assert client.get("own") == b"mine"
    assert pools() == before
    client.close()


# The last one: it leaves fewer servers.
def test_a_primary_that_is_killed(kind: str, nodes: list[Server], tmp_path: Path) -> None:
    key = f"killed {kind}"
    write(nodes, key, "1")
    given = options(path=tmp_path, limit="16MiB")
    with Ours(kind, nodes, given, decode_responses=True) as reads:
        reads.keeping(partial(reads.get, key))
        owner(nodes, key).stop()
        write(nodes, key, "2")

        def read() -> object:
            try:
                return reads.get(key)
            except (redis.RedisError, redis.exceptions.RedisClusterException):
                return None

        until("it is shown", lambda: read() == "2")
        assert reads.keeping(read) == "2"
