"""One connection to a server, with replies as it sends them."""

from __future__ import annotations

from typing import Any

import redis

Refused = redis.ResponseError


class Connection:
    """RESP3 to a port of this machine; bytes come back as text."""

    def __init__(self, port: int) -> None:
        # Not a Redis object: that would reshape the replies.
        self._connection = redis.Connection(host="127.0.0.1", port=port, protocol=3)  # type: ignore[no-untyped-call]
        self._connection.connect()  # type: ignore[no-untyped-call]

    def call(self, *words: str) -> Any:
        """Raises Refused when the server answers with an error."""
        self._connection.send_command(*words)  # type: ignore[no-untyped-call]
        return _plain(self._connection.read_response())

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.disconnect()  # type: ignore[no-untyped-call]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {_plain(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | set | frozenset | tuple):
        return [_plain(one) for one in value]
    return value
