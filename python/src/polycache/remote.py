"""The program's own client of Redis or Valkey, as the remote tier uses it.

The tier opens connections of its own, of the client's class and with its settings (host, TLS, user,
password or credential provider, Sentinel), so that the client's are neither used up nor
reconfigured, and so that no call takes longer than the option `timeout`.
"""

import os
import threading
import time
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

from .errors import InvalidArgument
from .remote_sentinel import sentinel_pools

_IDLE = 64
"""Connections that are kept for the next command, at most."""
_RESTED = 1.0
"""Seconds after which an idle connection is tried out before it is used."""
_CONNECT = 2.0
"""Seconds in which a connection that listens must be made."""
_LOOK = 0.2
"""Seconds after which a listening connection looks whether it is still wanted."""
_STEP = 1000
"""Keys that one step of a SCAN looks at."""

# Settings of a client that belong to its own pool, or to the other kind of client.
_NOT_COPIED = frozenset(
    {
        "retry",
        "retry_on_error",
        "retry_on_timeout",
        "redis_connect_func",
        "event_dispatcher",
        "health_check_interval",
        "parser_class",
        "protocol",
        "decode_responses",
        "encoding",
        "encoding_errors",
        "socket_timeout",
        "socket_connect_timeout",
        "connection_pool",
    }
)


class Ear(Protocol):
    """What a listening connection tells the native part."""

    def armed(self) -> None: ...
    def refused(self) -> None: ...
    def pushed(self, keys: list[bytes] | None) -> None: ...
    def is_over(self) -> bool: ...


class ServerError(Exception):
    """The server's answer to one command is an error; the text is as it was sent."""


class ClientConnections:
    """Connections like those of a `redis.Redis` or a `redis.asyncio.Redis`.

    Raises `InvalidArgument` for what is neither.
    """

    def __init__(self, client: Any) -> None:
        pool = getattr(client, "connection_pool", None)
        kind = getattr(pool, "connection_class", None)
        settings = getattr(pool, "connection_kwargs", None)
        if kind is None or settings is None:
            raise InvalidArgument(
                "remote is a URL, or a client of the package redis (redis.Redis, "
                "redis.asyncio.Redis, one of a Sentinel, RedisCluster); "
                f"not {type(client).__qualname__}"
            )
        self._kind = _synchronous(kind)
        self._sentinels = sentinel_pools(pool)
        self._settings = {
            name: value
            for name, value in settings.items()
            if name not in _NOT_COPIED and "maint_notifications" not in name
        }
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._idle: list[tuple[float, Any]] = []
        self._closed = False
        _EVERY.add(self)

    def send(self, commands: Sequence[Sequence[bytes]], timeout: float, reads: bool) -> list[Any]:
        """The replies, in order; an error of one command is a `ServerError` in its place.

        Commands that only read are sent again on a new connection if theirs was closed.
        Raises what the client raises.
        """
        connection = self._take(timeout)
        try:
            return self._exchange(connection, commands)
        except OSError:
            raise
        except Exception as error:
            if not reads or not _was_closed(error):
                raise
        self._forget_idle()
        return self._exchange(self._connect(timeout), commands)

    def scan(self, cursor: int, pattern: bytes, timeout: float) -> tuple[int, list[bytes]]:
        """A part of the keys that match, and the cursor to go on from."""
        words = [b"SCAN", b"%d" % cursor, b"MATCH", pattern, b"COUNT", b"%d" % _STEP]
        (reply,) = self.send([words], timeout, True)
        if isinstance(reply, ServerError):
            raise reply
        return int(reply[0]), list(reply[1])

    def listen(self, prefixes: Sequence[bytes], ear: Ear) -> None:
        """Hears of writes until the connection ends, or `ear` is over."""
        connection = self._made(_CONNECT)
        try:
            connection.connect()
            number = self._ask(connection, b"CLIENT", b"ID")
            # With RESP2, pushes are messages of a channel, to a connection that is named: this one.
            words = [b"CLIENT", b"TRACKING", b"ON", b"REDIRECT", b"%d" % number, b"BCAST"]
            for prefix in prefixes:
                words += [b"PREFIX", prefix]
            tracking = self._ask(connection, *words)
            if isinstance(tracking, ServerError):
                ear.refused()
                return
            subscribed = self._ask(connection, b"SUBSCRIBE", b"__redis__:invalidate")
            if isinstance(subscribed, ServerError):
                ear.refused()
                return
            ear.armed()
            while not ear.is_over():
                if connection.can_read(timeout=_LOOK):
                    self._hear(connection.read_response(disable_decoding=True), ear)
        finally:
            connection.disconnect()

    def close(self) -> None:
        """No connection is kept from now on."""
        self._closed = True
        self._forget_idle()
        if self._sentinels is not None:
            self._sentinels.close()

    def _hear(self, message: Any, ear: Ear) -> None:
        if isinstance(message, list) and message and message[0] == b"message":
            keys = message[2]
            ear.pushed(list(keys) if isinstance(keys, list) else None)

    def _ask(self, connection: Any, *words: bytes) -> Any:
        (reply,) = self._replies(connection, [words])
        return reply

    def _exchange(self, connection: Any, commands: Sequence[Sequence[bytes]]) -> list[Any]:
        try:
            replies = self._replies(connection, commands)
        except BaseException:
            # Replies may be under way: nobody may read them as the next command's.
            connection.disconnect()
            raise
        with self._lock:
            if not self._closed and self._process == os.getpid() and len(self._idle) < _IDLE:
                self._idle.append((time.monotonic(), connection))
                return replies
        connection.disconnect()
        return replies

    def _replies(self, connection: Any, commands: Sequence[Sequence[bytes]]) -> list[Any]:
        from redis.exceptions import ResponseError

        packed = connection.pack_commands(commands)
        connection.send_packed_command(packed, check_health=False)
        replies: list[Any] = []
        for _ in commands:
            try:
                replies.append(connection.read_response(disable_decoding=True))
            except ResponseError as error:
                replies.append(ServerError(_text(error)))
        return replies

    def _take(self, timeout: float) -> Any:
        while True:
            with self._lock:
                if self._process != os.getpid():
                    # They are the parent's: closing them here would end its sessions.
                    self._parents, self._idle = self._idle, []
                    self._process = os.getpid()
                if not self._idle:
                    break
                since, connection = self._idle.pop()
            # A write must not be the one to find out that the server closed it meanwhile.
            if time.monotonic() - since < _RESTED or _lives(connection):
                return connection
            connection.disconnect()
        return self._connect(timeout)

    def _forget_idle(self) -> None:
        with self._lock:
            if self._process != os.getpid():
                return
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.disconnect()

    def _connect(self, timeout: float) -> Any:
        connection = self._made(timeout)
        connection.connect()
        return connection

    def _made(self, timeout: float) -> Any:
        asked = self._sentinels
        primary = {} if asked is None else {"connection_pool": asked.proxy(timeout)}
        return self._kind(
            **self._settings,
            **primary,
            protocol=2,
            decode_responses=False,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=_no_retry(),
        )


_EVERY: "weakref.WeakSet[ClientConnections]" = weakref.WeakSet()


def _renew_locks() -> None:
    """A thread that the child of a fork lacks may hold one."""
    for connections in _EVERY:
        connections._lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)


def _no_retry() -> Any:
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Retry(NoBackoff(), 0)


def _synchronous(kind: Any) -> Any:
    """The class of connections for threads; asyncio's has the same name."""
    if not kind.__module__.startswith("redis.asyncio"):
        return kind
    import redis.connection
    import redis.sentinel

    for module in (redis.connection, redis.sentinel):
        if hasattr(module, kind.__name__):
            return getattr(module, kind.__name__)
    raise InvalidArgument(f"remote has connections of an unknown class: {kind.__qualname__}")


def _lives(connection: Any) -> bool:
    try:
        # Nothing is to be read from a connection that rests, except its end.
        return not connection.can_read(timeout=0)
    except Exception:
        return False


def _was_closed(error: Exception) -> bool:
    from redis.exceptions import ConnectionError, TimeoutError

    return isinstance(error, ConnectionError) and not isinstance(error, TimeoutError)


def _text(error: Exception) -> str:
    """An error with its code, which the client takes away from some."""
    code = getattr(error, "status_code", None)
    text = str(error)
    return f"{code} {text}" if code and not text.startswith(str(code)) else text
