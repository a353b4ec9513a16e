"""Commands of a whole database, kept inside a namespace.

Those that are emulated are made of SCAN, so they take as long as the database is large. They are
generators: each yields commands that are sent as they are, is sent the reply of each, with names as
bytes, and returns the reply of its own.
"""

from collections.abc import Callable, Generator
from random import choice
from typing import Any

from .prefix import Prefix
from .rules import Words

Walk = Generator[Words, Any, Any]

# Keys that SCAN looks at in one step, and that are unlinked at once.
BATCH = 1000
# How often the server is asked for any key before its keys are walked through.
TRIES = 16


def dbsize(prefix: Prefix) -> Walk:
    """Keys of the namespace; SCAN may give a key twice, so they are remembered."""
    keys: set[bytes] = set()
    yield from _batches(prefix, lambda some: keys.update(some))
    return len(keys)


def flushdb(prefix: Prefix) -> Walk:
    """Removes the keys of the namespace, but not all at one moment."""
    cursor: Any = "0"
    while True:
        cursor, keys = yield _scan(cursor, prefix)
        if keys:
            yield ["UNLINK", *keys]
        if cursor in ("0", b"0"):
            return b"OK"


def randomkey(prefix: Prefix) -> Walk:
    """A key, not all equally likely; None when the namespace is empty."""
    for _ in range(TRIES):
        key = yield ["RANDOMKEY"]
        if key is None or prefix.of(key):
            return prefix.strip(key)
    found: list[bytes] = []

    def take(some: list[bytes]) -> bool:
        found.extend(some)
        return bool(some)

    yield from _batches(prefix, take)
    return prefix.strip(choice(found)) if found else None


def _batches(prefix: Prefix, take: Callable[[list[bytes]], Any]) -> Walk:
    """Gives all keys of the namespace to a function, until it says that these are enough."""
    cursor: Any = "0"
    while True:
        cursor, keys = yield _scan(cursor, prefix)
        if take(keys) or cursor in ("0", b"0"):
            return


def _scan(cursor: Any, prefix: Prefix) -> Words:
    return ["SCAN", cursor, "MATCH", prefix.pattern(b"*"), "COUNT", BATCH]


EMULATED: dict[str, Callable[[Prefix], Walk]] = {
    "DBSIZE": dbsize,
    "FLUSHDB": flushdb,
    "RANDOMKEY": randomkey,
}
