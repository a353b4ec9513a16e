"""When a reply ends by itself."""

import re
from collections.abc import Sequence
from typing import Any

from .plan import Plan

# How many hashes have fields that expire (Redis 7.4, Valkey 9).
_FIELDS_EXPIRE = re.compile(r"(?:subexpiry|keys_with_volatile_items)=[1-9]")


def questions(plan: Plan) -> list[tuple[Any, ...]]:
    """What is to be asked before the read. Names are bytes, for which redis-py has no callbacks."""
    times: list[tuple[Any, ...]] = [(b"PTTL", key) for key in plan.keys]
    return [*times, (b"INFO", b"keyspace")] if plan.shows_fields else times


def expiry_of(plan: Plan, answers: Sequence[Any], sent_at: int) -> int | None:
    """When the reply expires: milliseconds since 1970, 0 for never; None where that is not known.

    Times to live count from before they were asked for.
    """
    first: int | None = None
    for at, answer in enumerate(answers):
        if at < len(plan.keys):
            if type(answer) is not int:
                return None
            if answer >= 0:
                ends = sent_at + answer
                first = ends if first is None else min(first, ends)
        elif not isinstance(answer, bytes) or _FIELDS_EXPIRE.search(answer.decode("latin-1")):
            return None
    return first or 0
