"""What a shared cache may store, and for how long (RFC 9111 3 and 4.2, RFC 5861)."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from .directives import Directives, directives_of, seconds_of, whole_seconds

Fields = Mapping[str, str]
"""By name in lower case; lines of one name are one list."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long an answer may be served, in milliseconds from now on."""

    fresh: int
    """Not above 0 for what is stale at once."""
    while_revalidate: int
    """After that, while a newer one is fetched."""
    if_error: int
    """After `fresh`, where no newer one can be had."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """Lifetimes in milliseconds for answers that name none."""

    fresh: int | None
    while_revalidate: int
    if_error: int


# Those that may be stored without being told so (RFC 9110 15.1), apart from those of parts of a
# body.
_BY_DEFAULT = frozenset((200, 203, 204, 300, 301, 308, 404, 410))
# Their meaning needs a request of its own, or the whole is missing.
_NEVER = frozenset((206, 304, 401, 407, 412, 416, 426))


def lifetime_of(
    status: int, fields: Fields, keyed: Set[str], defaults: Defaults, now: int
) -> Lifetime | str:
    """How long an answer may be served to all who have the same key, or why to nobody else.

    `keyed` are request fields that belong to the key or that the key stands for; `now` is in
    milliseconds since 1970.
    """
    if status >= 500:
        return "server-error"
    if status < 200 or status in _NEVER:
        return "status"
    if "set-cookie" in fields:
        return "set-cookie"
    directives = directives_of(fields.get("cache-control"))
    # `no-cache` also with names of fields: the rest could be stored, but is not worth the trouble.
    for name in ("no-store", "private", "no-cache"):
        if name in directives:
            return name
    if not _is_keyed(fields.get("vary", ""), keyed):
        return "vary"
    # A body without a coding serves every client: we make the codings.
    if "content-encoding" in fields:
        return "content-encoding"
    # It never ends, and would be waited for.
    if fields.get("content-type", "").lower().startswith("text/event-stream"):
        return "event-stream"
    return _freshness(status, fields, directives, defaults, now)


def _is_keyed(vary: str, keyed: Set[str]) -> bool:
    """Whether all that an answer was chosen by is in the key."""
    names = (name.strip().lower() for name in vary.split(","))
    return all(name in ("", "accept-encoding") or name in keyed for name in names)


def _freshness(
    status: int, fields: Fields, directives: Directives, defaults: Defaults, now: int
) -> Lifetime | str:
    def told(name: str) -> int | None:
        seconds = seconds_of(directives, name)
        return None if seconds is None else seconds * 1000

    shared = told("s-maxage")
    base = shared
    if base is None:
        base = told("max-age")
    if base is None:
        base = _expires(fields, now)
    if base is None:
        if status not in _BY_DEFAULT or defaults.fresh is None:
            return "no-lifetime" if defaults.fresh is None else "status"
        base = defaults.fresh
    fresh = base - age_of(fields)
    is_bound = "must-revalidate" in directives or "proxy-revalidate" in directives

    def stale(name: str, default: int) -> int:
        if is_bound:
            return 0
        own = told(name)
        # With s-maxage an answer is served stale only if it says so itself (RFC 9111 4.2.4).
        return own if own is not None else default if shared is None else 0

    while_revalidate = stale("stale-while-revalidate", defaults.while_revalidate)
    if_error = stale("stale-if-error", defaults.if_error)
    if fresh + max(while_revalidate, if_error) <= 0:
        return "no-lifetime"
    return Lifetime(fresh, while_revalidate, if_error)


def _expires(fields: Fields, now: int) -> int | None:
    """What Expires gives, in milliseconds; a date that cannot be read is past."""
    field = fields.get("expires")
    if field is None:
        return None
    until = _time(field)
    if until is None:
        return 0
    date = _time(fields.get("date", ""))
    return (until - (now if date is None else date)) // 1000 * 1000


def _time(field: str) -> int | None:
    """A date of HTTP in milliseconds since 1970."""
    try:
        date = parsedate_to_datetime(field)
        zoned = date.replace(tzinfo=UTC) if date.tzinfo is None else date
        return int(zoned.timestamp()) * 1000
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def age_of(fields: Fields) -> int:
    """How old an answer says that it is already, in milliseconds."""
    return (whole_seconds(fields.get("age", "")) or 0) * 1000
