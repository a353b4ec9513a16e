"""How a client of a Cluster makes and sends commands: spec/reads.md, "Over a Cluster"."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from redis.asyncio.cluster import ClusterPipeline as AsyncClusterPipeline
from redis.asyncio.cluster import PipelineCommand
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.cluster import ClusterPipeline, RedisCluster
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    ConnectionError,
    RedisClusterException,
    RedisError,
    TimeoutError,
    TryAgainError,
)

from ..errors import InvalidArgument, UncacheableRead
from .callbacks import parsed, take
from .way import RAW, Captured, Prepared, Way, as_text, capturing

_LOST = (ConnectionError, TimeoutError)
_FOLLOWED = (AskError, TryAgainError, ClusterDownError, *_LOST)
"""What a Cluster's client follows or tries again; a MovedError is an AskError."""


class ClusterWay(Way):
    """Of a `redis.RedisCluster` or a `redis.asyncio.RedisCluster`.

    Raises InvalidArgument for a client whose replies cannot be cached, with the reason.
    """

    def __init__(self, client: Any) -> None:
        _check(client)
        self.client, self.rewriters = client, []
        self.is_async = isinstance(client, AsyncRedisCluster)
        self.encoder = client.get_encoder()
        self._take_shape(client.get_connection_kwargs())
        self._view = _view(client)

    def prepare(self, method: str, args: Sequence[Any], options: dict[str, Any]) -> Prepared:
        prepared = super().prepare(method, args, options)
        if "target_nodes" in prepared.options:
            raise UncacheableRead("a read with target_nodes may be answered by a replica")
        return prepared

    def check_keys(self, name: Any, keys: Sequence[bytes]) -> None:
        if len({key_slot(key) for key in keys}) > 1:
            raise UncacheableRead(
                f"the keys of this {as_text(name)} are in several slots of the Cluster: give them "
                "one hash tag, as in {user:7}:name and {user:7}:mail, or read each by itself"
            )

    def pipeline(self, prepared: Prepared, key: bytes, before: int) -> Any:
        return (AsyncExchange if self.is_async else Exchange)(self.client, key, before)

    def _callback(self, name: Any) -> Any:
        client = self.client
        own = client.response_callbacks if self.is_async else client.cluster_response_callbacks
        return own.get(name)


class _Exchange:
    """The commands of one read, as a pipeline has them."""

    def __init__(self, client: Any, key: bytes, before: int) -> None:
        self._client = client
        self._key = key
        self._before = before
        """Questions before the read; none if its reply will not be kept."""
        self._commands: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def execute_command(self, *words: Any, **options: Any) -> None:
        self._commands.append((words, options))

    def _node(self) -> Any:
        """The node that the client has for the slot, if the reply is to be kept."""
        if self._before == 0:
            return None
        try:
            return self._client.get_node_from_key(self._key)
        except (RedisClusterException, RedisError):
            return None

    @property
    def _read(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self._commands[self._before]

    @property
    def _identity(self) -> Any:
        """The key that says who the database is, if that is asked for. Another primary may have
        it, which must not answer before the one that is read from."""
        asks = self._before == 0 and len(self._commands) > 1
        return self._commands[1][0][1] if asks else None

    def _is_kept(self, replies: Sequence[Any]) -> bool:
        return not isinstance(replies[self._before], _FOLLOWED)

    def _replies(self, reply: Any, answer: Any) -> list[Any]:
        """Those of a read that the Cluster's client sent: nothing else is known of it."""
        after = [answer] * (len(self._commands) - self._before - 1)
        return [*[None] * self._before, reply, *after]


class Exchange(_Exchange):
    _callback: Any = None
    """What the node's client makes of the reply."""

    def execute(self, raise_on_error: bool) -> list[Any]:
        node = self._node()
        if node is not None:
            try:
                replies = self._by(node)
            except _LOST:
                replies = None
            if replies is not None and self._is_kept(replies):
                return self._parsed(replies)
        words, options = self._read
        reply = self._client.execute_command(*words, **options)
        answer = None
        if self._identity is not None:
            with suppress(RedisClusterException, RedisError):
                answer = self._client.execute_command("GETEX", self._identity, **RAW)
        return self._replies(reply, answer)

    def _by(self, node: Any) -> list[Any]:
        """The reply is left as it is read: see `callbacks.py`."""
        pipe = self._client.get_redis_connection(node).pipeline(transaction=False)
        name = self._read[0][0]
        self._callback, pipe.response_callbacks = pipe.response_callbacks.get(name), {name: take}
        for words, options in self._commands:
            pipe.execute_command(*words, **options)
        replies: list[Any] = pipe.execute(raise_on_error=False)
        return replies

    def _parsed(self, replies: list[Any]) -> list[Any]:
        reply = parsed(replies[self._before], None, self._callback)
        (name, *_), options = self._read
        # Which the Cluster's client has beside its nodes'.
        callback = self._client.cluster_response_callbacks.get(name)
        if callback is not None and not isinstance(reply, Exception):
            reply = callback(reply, **options)
        replies[self._before] = reply
        return replies


class AsyncExchange(_Exchange):
    async def execute(self, raise_on_error: bool) -> list[Any]:
        node = self._node()
        if node is not None:
            try:
                replies = await self._by(node)
            except _LOST:
                replies = None
            if replies is not None and self._is_kept(replies):
                return replies
        words, options = self._read
        reply = await self._client.execute_command(*words, **options)
        answer = None
        if self._identity is not None:
            with suppress(RedisClusterException, RedisError):
                answer = await self._client.execute_command("GETEX", self._identity, **RAW)
        return self._replies(reply, answer)

    async def _by(self, node: Any) -> list[Any]:
        commands = [
            PipelineCommand(at, *words, **options)
            for at, (words, options) in enumerate(self._commands)
        ]
        await node.execute_pipeline(commands)
        return [command.result for command in commands]


def is_cluster(client: Any) -> bool:
    return isinstance(client, (RedisCluster, AsyncRedisCluster, AsyncClusterPipeline))


def _check(client: Any) -> None:
    if isinstance(client, (ClusterPipeline, AsyncClusterPipeline)):
        raise InvalidArgument("cached takes the client of a Cluster, and not a pipeline of it")
    if client.read_from_replicas or client.load_balancing_strategy:
        raise InvalidArgument(
            "cached takes a client of a Cluster without read_from_replicas and "
            "load_balancing_strategy: replicas answer with what is older"
        )
    if getattr(client.nodes_manager, "_cache", None) is not None:
        raise InvalidArgument(
            "the client has a cache of its own (cache_config), which hears of writes in its own "
            "time: make it without one"
        )


def _view(client: Any) -> Any:
    """A copy that captures commands instead of sending them."""
    view = capturing(client)
    # The copy must close nothing when it is forgotten, nor say that it was not closed.
    if isinstance(client, AsyncRedisCluster):
        view._initialize = True
    else:
        view.nodes_manager = None

    def all_in_one(command: str, *keys: Any) -> Captured:
        return Captured((command, *keys), {})

    # EXISTS of keys in several slots would be several commands.
    vars(view)["_split_command_across_slots"] = all_in_one
    return view
