"""How long an entry lives, as methods hand it on."""

from datetime import datetime

from . import _native
from .durations import Duration
from .missing import Missing

Ttl = Duration | Missing | None | _native.Lifetime


def lifetime(ttl: Duration | Missing | None, expires_at: datetime | None) -> Ttl:
    """The two arguments as one. They are checked where it is used."""
    return ttl if expires_at is None else _native.Lifetime(ttl, expires_at)
