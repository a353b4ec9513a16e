"""How long an entry lives, as methods hand it on."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias

from . import _native
from .durations import Duration
from .errors import InvalidArgument
from .missing import MISSING, Missing

Ttl = Duration | Missing | None | _native.Lifetime

TtlOf: TypeAlias = Callable[[Any], Duration | Missing | None]
"""A function of the loaded value that returns its time to live, as `ttl` says it."""

LoadTtl: TypeAlias = Ttl | TtlOf
"""The time to live of what a loader returns."""


def lifetime(ttl: Duration | Missing | None, expires_at: datetime | None) -> Ttl:
    """The two arguments as one. They are checked where it is used."""
    return ttl if expires_at is None else _native.Lifetime(ttl, expires_at)


def load_lifetime(ttl: Duration | Missing | TtlOf | None, expires_at: datetime | None) -> LoadTtl:
    """As `lifetime`, of what a loader returns."""
    if not callable(ttl):
        return lifetime(ttl, expires_at)
    if expires_at is not None:
        raise InvalidArgument("ttl and expires_at are both given: an entry has one of them")
    return ttl


def before_load(ttl: LoadTtl) -> Ttl:
    """What can be checked of it before there is a value."""
    return MISSING if callable(ttl) else ttl


def after_load(ttl: LoadTtl, value: Any) -> Ttl:
    """The time to live of a loaded value. Raises what a function that is given as `ttl` raises."""
    return ttl(value) if callable(ttl) else ttl
