"""How representations are served."""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Literal, TypedDict

from ..durations import Duration
from ..errors import InvalidArgument
from .codings import CODINGS, KNOWN

Fields = list[tuple[str, str]]
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
# What the answer itself says, or the server.
_OWN = frozenset(
    (
        *("age", "cache-control", "connection", "content-encoding", "content-length"),
        *("content-type", "date", "etag", "transfer-encoding", "vary"),
    )
)


class CacheControl(TypedDict, total=False):
    """Directives of a response (RFC 9111 5.2, RFC 5861, RFC 8246). Times are told in whole seconds,
    rounded down."""

    visibility: Literal["public", "private"]
    """Who may store it: everyone, or the user's own browser only. Default: not said."""
    no_cache: bool
    """It may be stored, and each use of it asks first whether it is current. Default: False."""
    no_store: bool
    """Nobody stores it. Default: False."""
    must_revalidate: bool
    """It is never served stale. Default: False."""
    immutable: bool
    """It never changes while it is fresh. Default: False."""
    max_age: Duration
    """How long it is fresh. Default: not said, so that caches guess."""
    shared_max_age: Duration
    """How long it is fresh in caches that many users share. Default: as `max_age`."""
    stale_while_revalidate: Duration
    """How long after that it may be served while a newer one is fetched. Default: not at all."""
    stale_if_error: Duration
    """How long after that it may be served where no newer one can be had. Default: not at all."""


_FLAGS = {
    "no_cache": "no-cache",
    "no_store": "no-store",
    "must_revalidate": "must-revalidate",
    "immutable": "immutable",
}
_TIMES = {
    "max_age": "max-age",
    "shared_max_age": "s-maxage",
    "stale_while_revalidate": "stale-while-revalidate",
    "stale_if_error": "stale-if-error",
}


class Policy:
    """What caches may do, which codings are used, and further header fields. Make it once.

    cache_control: text, or a `CacheControl`. Default: "no-cache", so caches keep the answer and ask
    each time whether it is current.
    vary: request fields that the answer was chosen by. Default: none; Accept-Encoding is named
    where there are codings.
    codings: content codings that may be used, best first; those that cannot be made here are left
    out. Default: `CODINGS`.
    compress_from: bytes below which compression is not worth it. Default: 1024.
    headers: more header fields, as for CORS or security. Default: none.

    Raises InvalidArgument.
    """

    __slots__ = ("always", "codings", "compress_from")

    def __init__(
        self,
        *,
        cache_control: str | CacheControl = "no-cache",
        vary: Sequence[str] = (),
        codings: Sequence[str] = CODINGS,
        compress_from: int = 1024,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        for coding in codings:
            if coding not in KNOWN:
                raise InvalidArgument(f"there is no coding {coding}")
        if not isinstance(compress_from, int) or compress_from < 0:
            raise InvalidArgument("compress_from is a number of bytes")
        text = cache_control if isinstance(cache_control, str) else _text(cache_control)
        self.always: Fields = [("cache-control", checked_value("cache-control", text))]
        """Fields of every answer, 304 included (RFC 9110 15.4.5)."""
        self.codings = tuple(coding for coding in codings if coding in CODINGS)
        self.compress_from = compress_from
        names = dict.fromkeys(checked_name(name) for name in vary)
        if self.codings:
            names["accept-encoding"] = None
        if names:
            self.always.append(("vary", ", ".join(names)))
        for given, value in (headers or {}).items():
            name = checked_name(given)
            if name in _OWN:
                raise InvalidArgument(f"the field {name} is not set by headers")
            self.always.append((name, checked_value(name, value)))

    def _with_fields(self, always: Fields, codings: tuple[str, ...]) -> "Policy":
        """The same with other fields of every answer."""
        policy = copy(self)
        policy.always = always
        policy.codings = codings
        return policy


def _text(control: CacheControl) -> str:
    given: dict[str, Any] = dict(control)
    unknown = set(given) - {"visibility", *_FLAGS, *_TIMES}
    if unknown:
        raise InvalidArgument(f"cache_control has no {min(unknown)}")
    visibility = given.get("visibility")
    if visibility not in (None, "public", "private"):
        raise InvalidArgument("visibility is 'public' or 'private'")
    if given.get("no_store") and len(given) > 1:
        raise InvalidArgument("no_store stands alone: what nobody stores has no age")
    said = [visibility] if visibility else []
    said += [text for name, text in _FLAGS.items() if given.get(name)]
    for name, text in _TIMES.items():
        if given.get(name) is not None:
            said.append(f"{text}={int(seconds(given[name]))}")
    if not said:
        raise InvalidArgument("cache_control says nothing")
    return ", ".join(said)


def seconds(duration: Duration) -> float:
    """Raises InvalidArgument for what is no duration."""
    # Only the native extension knows all forms of a duration.
    from .. import _native

    return _native.Reads.seconds(duration)


def checked_name(name: object) -> str:
    """In lower case. Raises InvalidArgument for what is none."""
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name.lower()
    raise InvalidArgument(f"{name!r} is no name of a header field")


def checked_value(name: str, value: object) -> str:
    """Raises InvalidArgument for what would end the field, above all."""
    if isinstance(value, str) and _VALUE.fullmatch(value):
        return value
    raise InvalidArgument(f"the field {name} cannot be {value!r}")


DEFAULT = Policy()
