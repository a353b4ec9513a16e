"""How a client of redis-py makes and sends commands."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import redis
import redis.asyncio
from redis.client import NEVER_DECODE, Pipeline
from redis.sentinel import SentinelConnectionPool

from ..errors import InvalidArgument, UncacheableRead
from ..redis_namespace.command_table import Command
from ..redis_namespace.pool import Pool
from ..redis_namespace.prefix import Prefix
from ..redis_namespace.session import Rewriter, apart
from .callbacks import AsyncPiped, Piped
from .functions import function_name, options_name
from .kept import FORMAT

_SETTINGS = (
    *("protocol", "decode_responses", "encoding", "encoding_errors", "legacy_responses"),
    *("parser_class", "command_packer"),
)
"""Settings of a client that change what it makes of a reply."""
RAW: dict[str, Any] = {NEVER_DECODE: []}


class Captured:
    """The command that a method of a client would have sent; what an async one awaits, too."""

    __slots__ = ("options", "words")

    def __init__(self, words: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.words = words
        self.options = options

    def __await__(self) -> Any:
        return self
        yield


class Prepared(NamedTuple):
    """A command with the prefixes of its namespaces."""

    words: Sequence[Any]
    options: dict[str, Any]
    undo: Callable[[Any], Any] | None
    """Takes the prefixes off the reply."""


class Way:
    """Of a `redis.Redis` or a `redis.asyncio.Redis`, or a namespace of one.

    Raises InvalidArgument for a client whose replies cannot be cached, with the reason.
    """

    def __init__(self, client: Any) -> None:
        self.client, self.rewriters = _bare(client)
        _check(self.client)
        pool = self.client.connection_pool
        self.encoder = pool.get_encoder()
        self.is_async = isinstance(self.client, redis.asyncio.Redis)
        self._take_shape(pool.connection_kwargs)
        self._view = capturing(client)

    def _take_shape(self, settings: Mapping[str, Any]) -> None:
        said = [f"{name}={settings[name]}" for name in _SETTINGS if settings.get(name) is not None]
        self._named: dict[str | bytes, tuple[Any, str]] = {}
        self._shape = " ".join(["redis-py", redis.__version__, *said, f"marshal {FORMAT}"])

    def space(self) -> object:
        """What tells the namespace of this moment from others."""
        if not self.rewriters:
            return None
        return tuple([(one.fixed or one.prefix).text for one in self.rewriters])

    def has(self, method: str) -> bool:
        return callable(getattr(self._view, method, None))

    def prepare(self, method: str, args: Sequence[Any], options: dict[str, Any]) -> Prepared:
        """The command that a method makes."""
        made = getattr(self._view, method)(*args, **options)
        if not isinstance(made, Captured):
            made = _awaited(made)
        if not isinstance(made, Captured):
            raise UncacheableRead(f"{method} does more than to send one command")
        given = {name: one for name, one in made.options.items() if name != "keys"}
        return self._with_prefixes(made.words, given)

    def key(self, name: Any) -> bytes:
        """A key as it is sent."""
        words = self._with_prefixes(("GET", name), {}).words
        return self.encoded(words[1])

    def encoded(self, word: Any) -> bytes:
        return bytes(self.encoder.encode(word))

    def shape(self, method: str, words: Sequence[Any], options: dict[str, Any]) -> str | None:
        """What the client's replies are told from those of others; None if nothing tells them."""
        given = options_name(options)
        if given is None:
            return None
        return f"{self._shape} {method} {self.callback_name(words[0])} {given}"

    def callback_name(self, command: Any) -> str | None:
        """What tells the callback of a command from all others: its name, or a random one, which
        no other process has."""
        if type(command) is not str and not isinstance(command, (str, bytes)):
            return None
        callback = self._callback(command)
        if callback is None:
            return None
        named = self._named.get(command)
        if named is None or named[0] is not callback:
            named = (callback, function_name(callback) or secrets.token_hex(16))
            self._named[command] = named
        return named[1]

    def decodes(self, name: Any) -> bool:
        """Whether the client makes something else of a command's replies, as redis-py does of
        JSON.GET's once its `json()` was called."""
        return self._callback(name) is not None

    def check_keys(self, name: Any, keys: Sequence[bytes]) -> None:
        """Raises UncacheableRead for keys that no one server has all."""

    def pipeline(self, prepared: Prepared, key: bytes, before: int) -> Any:
        """What sends a read and the questions beside it in one round trip.

        key: one of the read.
        before: how many questions go before the read; none if its reply will not be kept.
        """
        kind = AsyncPiped if self.is_async else Piped
        pipe = self.client.pipeline(transaction=False)
        return kind(pipe, before, prepared.undo, self._callback(prepared.words[0]))

    def _callback(self, name: Any) -> Any:
        """What a user or redis-py makes of a reply; redis-py has none for a name in bytes."""
        # Less than half of what its own `get` takes, at each hit.
        return dict.get(self.client.response_callbacks, name.upper())

    def _with_prefixes(self, words: Sequence[Any], options: dict[str, Any]) -> Prepared:
        undo: list[Callable[[Any], Any]] = []
        for rewriter in self.rewriters:
            plain = rewriter.plain(words)
            if plain is not None:
                words = plain
                continue
            found = apart(words)
            command, prefix = rewriter.table.find(found), rewriter.fixed or rewriter.prefix
            words = command.rewrite(found, prefix)
            if command.stripped:
                undo.append(partial(_taken_off, command, prefix))
        if not undo:
            return Prepared(words, options, None)

        def undone(reply: Any) -> Any:
            # The namespace next to the server first.
            for one in reversed(undo):
                reply = one(reply)
            return reply

        return Prepared(words, options, undone)


def _taken_off(command: Command, prefix: Prefix, reply: Any) -> Any:
    return command.taken_off(reply, prefix)


def as_text(name: Any) -> str:
    return name.decode("latin-1") if isinstance(name, bytes) else str(name)


def _awaited(made: Any) -> Any:
    """The result of a coroutine that waits for nothing but its command."""
    send = getattr(made, "send", None)
    if send is None or not hasattr(made, "close"):
        return made
    try:
        send(None)
    except StopIteration as done:
        return done.value
    made.close()
    return made


def capturing(client: Any) -> Any:
    """A copy that captures commands instead of sending them."""
    view = copy(client)
    view.connection = None
    # The client closes its pool when it is forgotten, and not its copy.
    view.auto_close_connection_pool = False

    def execute_command(*words: Any, **options: Any) -> Captured:
        return Captured(words, options)

    vars(view)["execute_command"] = execute_command
    return view


def _bare(client: Any) -> tuple[Any, list[Rewriter]]:
    """The client that sends, and the namespaces that were put on it, the outermost first."""
    rewriters = []
    while isinstance(pool := getattr(client, "connection_pool", None), Pool):
        rewriters.append(pool._rewriter)
        client = pool._client
    return client, rewriters


def _check(client: Any) -> None:
    kinds = (redis.Redis, redis.asyncio.Redis)
    pipelines = (Pipeline, redis.asyncio.client.Pipeline)
    if not isinstance(client, kinds) or isinstance(client, pipelines):
        raise InvalidArgument(
            "cached takes a redis.Redis or a redis.asyncio.Redis, a namespace of one, or a "
            "RedisCluster of either kind; no pipeline: its connection does not show which server "
            f"has answered. Not {type(client).__module__}.{type(client).__qualname__}"
        )
    pool = client.connection_pool
    if isinstance(pool, (SentinelConnectionPool, redis.asyncio.sentinel.SentinelConnectionPool)):
        raise InvalidArgument(
            "cached takes no client of a Sentinel yet: its replicas may answer, and its "
            "connections do not show which server has answered"
        )
    # Of asyncio's clients, and of others.
    if any(vars(client).get(f"{prefix}single_connection_client") for prefix in ("", "_")):
        raise InvalidArgument(
            "the client has a connection of its own (single_connection_client), which its "
            "pipelines do not use and which may have another database: make it without one"
        )
    if getattr(pool, "cache", None) is not None:
        raise InvalidArgument(
            "the client has a cache of its own (cache_config), which hears of writes in its own "
            "time: make it without one"
        )
