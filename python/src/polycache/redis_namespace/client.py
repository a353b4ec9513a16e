"""Clients of redis-py inside a namespace."""

from codecs import lookup
from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, TypeVar

import redis
import redis.asyncio
import redis.utils
from redis import client as synchronous
from redis.asyncio import client as asynchronous
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.cluster import RedisCluster

from ..errors import InvalidArgument
from .command_table import Rules
from .namespaces import Namespace
from .pool import AsyncPool, Pool, SyncPool
from .prefix import SEPARATOR
from .session import Rewriter
from .short import SHORTENED, shorten

C = TypeVar("C", bound="redis.Redis | redis.asyncio.Redis")


def namespaced(
    client: C,
    namespace: Namespace,
    *,
    separator: str = SEPARATOR,
    allow: Iterable[str] = (),
    commands: Mapping[str, Rules] | None = None,
) -> C:
    """A client that puts the prefix `namespace:` before keys, patterns and channels, and takes it
    off what comes back.

        shop = namespaced(redis.Redis(), "shop")
        tenants = namespaced(redis.asyncio.Redis(), lambda: tenant.get())

    It has the connections of the client that it is made from, which stays as it was and is the one
    to be closed.

    namespace: text, a list of nested ones, or a function that is asked at every command, when it is
    sent. A subscription stays in the namespace in which its first channel was asked for.
    separator: what stands behind each name, a colon unless it is said otherwise.
    allow: commands that pass as they are, because they touch the whole server (`["FLUSHALL"]`) or
    are not known and have no keys.
    commands: where further commands have their keys: `{"JSON.GET": [["key", 1, 1, 1]]}`
    (spec/commands.md says what a rule is).

    A command that is not known raises UnknownCommand, one that touches the whole server
    CommandNotAllowed. A Lua script gets its KEYS rewritten; one that makes up keys of its own has
    to know the prefix itself.
    """
    if isinstance(client, redis.Redis) and not isinstance(client, synchronous.Pipeline):
        base: Any = redis.Redis
        pools: Any = SyncPool
        single = client._single_connection_client
        monitors: Any = synchronous.Monitor
    elif isinstance(client, redis.asyncio.Redis) and not isinstance(client, asynchronous.Pipeline):
        base, pools, monitors = redis.asyncio.Redis, AsyncPool, asynchronous.Monitor
        single = client.single_connection_client
    elif isinstance(client, (RedisCluster, AsyncRedisCluster)):
        raise InvalidArgument(
            f"{type(client).__name__} finds the node by the key before it has its prefix, and has "
            "no place to put one there. Namespace a client of one server, or write the prefix into "
            'the keys: f"shop:{key}"'
        )
    else:
        raise InvalidArgument(
            f"a namespace is for redis.Redis or redis.asyncio.Redis, not {type(client).__name__}"
        )
    encoding = _encoding(client.connection_pool, base is redis.Redis)
    rewriter = Rewriter(
        namespace, allow=allow, commands=commands, encoding=encoding, separator=separator
    )
    pool: Pool = pools(client, rewriter, bool(single))
    made = type(client).__new__(type(client))
    # A class of the user's own may ask for other arguments.
    base.__init__(made, connection_pool=pool, single_connection_client=single)
    _take_over(made, client)
    shorten(made, client, base, rewriter)

    def monitor() -> Any:
        rewriter.table.find(["MONITOR"])
        return monitors(pool)

    # Before it has a connection that would never be given back.
    vars(made)["monitor"] = monitor
    return made


def _take_over(made: Any, client: Any) -> None:
    """What was set on the client: callbacks, modules, and what a class of the user's own has."""
    made.response_callbacks = copy(client.response_callbacks)
    for name, value in vars(client).items():
        # What would carry commands out on the client itself, as an outer namespace's short way.
        if name not in SHORTENED:
            vars(made).setdefault(name, value)


def _encoding(pool: Any, synchronous: bool) -> str:
    """The encoding in which the client sends text."""
    encoding: str = pool.get_encoder().encoding
    packer = pool.connection_kwargs.get("command_packer")
    hiredis = synchronous and packer is None and redis.utils.HIREDIS_AVAILABLE
    if hiredis and lookup(encoding).name != "utf-8":
        raise InvalidArgument(
            f"with hiredis redis-py sends text in UTF-8, not in {encoding}, as which it reads it: "
            "names would get another prefix as text than as bytes. Leave hiredis out"
        )
    return encoding
