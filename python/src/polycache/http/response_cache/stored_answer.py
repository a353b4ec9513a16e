"""Answers as they stand in a cache (`spec/http.md`, "A stored answer")."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import InvalidArgument
from ..entity_tag import entity_tag, is_entity_tag
from ..policy import checked_name, checked_value
from .storable import Fields, Lifetime

# Of one connection (RFC 9110 7.6.1), or told anew for each answer.
_DROPPED = frozenset(
    (
        *("age", "cache-status", "connection", "content-length", "etag", "keep-alive"),
        *("proxy-authenticate", "proxy-authentication-info", "te", "trailer"),
        *("transfer-encoding", "upgrade"),
    )
)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A complete answer. Times are in milliseconds since 1970."""

    status: int
    fields: Sequence[tuple[str, str]]
    """Names in lower case, and values; without those of the connection and of the body's length."""
    body: bytes
    etag: str
    """Its own entity tag, or a hash of the body."""
    made: int
    """When the answer was made, which its Age counts from."""
    fresh_until: int
    revalidate_until: int
    error_until: int

    @property
    def useful_until(self) -> int:
        """Until when it is of any use."""
        return max(self.fresh_until, self.revalidate_until, self.error_until)

    @property
    def value(self) -> dict[str, Any]:
        """What is stored."""
        return {
            "status": self.status,
            "fields": [list(field) for field in self.fields],
            "body": self.body,
            "etag": self.etag,
            "made": self.made,
            "freshUntil": self.fresh_until,
            "revalidateUntil": self.revalidate_until,
            "errorUntil": self.error_until,
        }


@dataclass(frozen=True, slots=True)
class Passing:
    """In place of an answer that cannot be stored: until then each request is answered on its
    own."""

    why: str
    until: int

    @property
    def useful_until(self) -> int:
        return self.until

    @property
    def value(self) -> dict[str, Any]:
        """What is stored."""
        return {"pass": self.why, "until": self.until}


def answer_to_store(
    status: int, fields: Fields, body: bytes, lifetime: Lifetime, age: int, now: int
) -> StoredAnswer:
    """What is stored of an answer with this body, which was `age` milliseconds old at `now`.

    Raises InvalidArgument for fields that are none.
    """
    named = {name.strip().lower() for name in fields.get("connection", "").split(",")}
    kept = sorted(
        (checked_name(name), checked_value(name, value))
        for name, value in fields.items()
        if name not in _DROPPED and name not in named
    )
    etag = fields.get("etag")
    fresh_until = now + lifetime.fresh
    return StoredAnswer(
        status,
        kept,
        body,
        # What is no tag is as good as none.
        etag if etag is not None and is_entity_tag(etag) else entity_tag(body),
        now - age,
        fresh_until,
        fresh_until + lifetime.while_revalidate,
        fresh_until + lifetime.if_error,
    )


def read(value: object) -> StoredAnswer | Passing | None:
    """What stands under a key; None for what is none of ours: another program may have written to
    the namespace."""
    try:
        return _read(value)
    except (KeyError, TypeError, ValueError, InvalidArgument):
        return None


def since_of(value: object) -> str | None:
    """The last change of its key that was known when its load began."""
    since = value.get("since") if type(value) is dict else None
    return since if isinstance(since, str) else None


def _read(value: Any) -> StoredAnswer | Passing | None:
    if type(value) is not dict:
        return None
    if "pass" in value:
        return Passing(_text(value["pass"]), _number(value["until"]))
    status, body, etag = value["status"], value["body"], value["etag"]
    if type(body) is not bytes or not is_entity_tag(etag) or not 200 <= _number(status) <= 599:
        return None
    # An answer with other fields would be another one.
    fields = [_field(field) for field in value["fields"]]
    times = (value[name] for name in ("made", "freshUntil", "revalidateUntil", "errorUntil"))
    return StoredAnswer(int(status), fields, body, etag, *map(_number, times))


def _field(value: object) -> tuple[str, str]:
    if type(value) is not list:
        raise TypeError
    name, text = value
    return checked_name(name), checked_value(name, text)


def _text(value: object) -> str:
    if isinstance(value, str):
        # It is told to clients.
        return checked_value("cache-status", value)
    raise TypeError


def _number(value: object) -> int:
    """JavaScript may have stored a fraction."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return int(value)
    raise TypeError
