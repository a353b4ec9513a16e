"""Subjects that are not peers: they bound what can be reached, so no subject loses to them."""

from __future__ import annotations

import re

# By benchmark, what their names look like.
LIMITS = {
    "memory": r"^map\b",
    "memory-python": r"^dict$",
    "memory-ruby": r"^hash$",
    "namespace": r"^(redis-client|redis-rb|redis-py|redis-rs|ioredis|node-redis|bun-redis)$",
    "http": r"^(constant|map)\b",
    "host": r"^copy$",
    "hit-ratio": r"^(opt|belady)",
    "listeners": r"^(no-listener|opt-in|broadcast)",
}


# Likewise single operations: a subject that does not compress copies.
OPERATIONS = {"codec": (r"^zstd\b", r"\bNoop\b")}


def is_limit(bench: str, subject: str, operation: str = "") -> bool:
    """Whether the subject, or this operation of it, is a limit and not a rival."""
    pattern = LIMITS.get(bench)
    if pattern is not None and re.search(pattern, subject, re.IGNORECASE):
        return True
    of_subject, of_operation = OPERATIONS.get(bench, ("(?!)", "(?!)"))
    return bool(re.search(of_subject, subject) and re.search(of_operation, operation))
