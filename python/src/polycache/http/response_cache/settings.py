"""The options of a response cache."""

import logging
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from ...durations import Duration
from ...errors import InvalidArgument
from ..codings import CODINGS
from ..policy import Policy, checked_name, seconds
from .storable import Defaults

_log = logging.getLogger("polycache")
_UNITS = {
    **{"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
    **{"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
}


class ResponseCacheOptions(TypedDict, total=False):
    """Every option has a default; None stands for it. An unknown option raises
    `InvalidArgument`."""

    key: Callable[[Any], str | None] | None
    """What the answer is stored under, in place of the request's URL; the fields of `vary` are
    added. It gets the scope of ASGI or the environ of WSGI, and returns None for a request that is
    not cached. Default: the URL; a request of no host, or of two, is not cached."""

    vary: Sequence[str] | None
    """Request fields that belong to the key: each value has answers of its own. Default: none."""

    covered: Sequence[str] | None
    """Request fields that `key` stands for, or that no answer depends on. Without `authorization`
    or `cookie` in `vary` or here, a request that has one is not cached. Default: none."""

    extensions: Sequence[str] | None
    """What else a handler sees whose answer may be stored: names in the scope of ASGI or the
    environ of WSGI, which code outside of the cache has put there. You say that `key` stands for
    them, or that no answer depends on them. Default: none."""

    ttl: Duration | None
    """How long an answer is fresh that does not say so. Default: it is not stored."""

    stale_while_revalidate: Duration | None
    """How long after that it is served while a newer one is fetched, unless it says so itself.
    Default: not at all."""

    stale_if_error: Duration | None
    """How long after that it is served while the handler fails, unless it says so itself. Default:
    not at all."""

    max_body: int | str | None
    """Bytes of the largest body that is stored, a number or text; larger ones pass through.
    Default: "1MiB"."""

    cache_status: bool | None
    """Whether answers say what the cache did, by the field Cache-Status (RFC 9211). Default:
    True."""

    on_error: Callable[[Exception], object] | None
    """Told of a handler's errors while a stale answer is served in its place or after its answer
    was complete, and of the cache's. Default: the logger `polycache`."""

    clock: Callable[[], float] | None
    """Milliseconds since 1970, for tests. Default: the system's clock."""

    codings: Sequence[str] | None
    """Content codings that may be used, best first. Default: `CODINGS`."""

    compress_from: int | None
    """Bytes below which compression is not worth it. Default: 1024."""


class Settings:
    """The options as they are used. Raises InvalidArgument."""

    def __init__(self, options: ResponseCacheOptions) -> None:
        unknown = set(options) - set(ResponseCacheOptions.__annotations__)
        if unknown:
            raise InvalidArgument(f"a response cache has no option {min(unknown)}")
        given: dict[str, Any] = {k: value for k, value in options.items() if value is not None}
        self.key: Callable[[Any], str | None] | None = _function(given, "key", None)
        self.vary = sorted(set(_names(given, "vary")))
        self.keyed = frozenset((*self.vary, *_names(given, "covered")))
        """In the key, or covered."""
        self.extensions = tuple(_texts(given, "extensions"))
        self.defaults = Defaults(
            _milliseconds(given["ttl"]) if "ttl" in given else None,
            _milliseconds(given.get("stale_while_revalidate", 0)),
            _milliseconds(given.get("stale_if_error", 0)),
        )
        self.max_body = _size(given.get("max_body", "1MiB"))
        self.cache_status = bool(given.get("cache_status", True))
        self.tell: Callable[[Exception], object] = _function(given, "on_error", _logged)
        self._clock: Callable[[], float] = _function(given, "clock", lambda: time.time() * 1000)
        self.policy = Policy(
            codings=_texts(given, "codings", CODINGS),
            compress_from=given.get("compress_from", 1024),
        )

    def now(self) -> int:
        """Milliseconds since 1970."""
        return int(self._clock())


def _logged(error: Exception) -> None:
    _log.error("a response cache goes on without what failed", exc_info=error)


def _function(given: dict[str, Any], name: str, default: Any) -> Any:
    function = given.get(name, default)
    if function is not None and not callable(function):
        raise InvalidArgument(f"{name} is a function")
    return function


def _names(given: dict[str, Any], name: str) -> list[str]:
    return [checked_name(one) for one in _texts(given, name)]


def _texts(given: dict[str, Any], name: str, default: Sequence[str] = ()) -> Sequence[str]:
    """A text alone would be taken for a list of its letters."""
    texts = given.get(name, default)
    if isinstance(texts, (list, tuple, set, frozenset)) and all(isinstance(t, str) for t in texts):
        return list(texts)
    raise InvalidArgument(f"{name} is a list of names, and not {texts!r}")


def _milliseconds(duration: Duration) -> int:
    # At most what seconds in a field can say, so that sums stay small.
    return round(min(seconds(duration), 2**31) * 1000)


def _size(size: object) -> int:
    if isinstance(size, str) and (match := re.fullmatch("([0-9]{1,15})([A-Za-z]*)", size)):
        unit = _UNITS.get(match[2])
        if unit is not None:
            return int(match[1]) * unit
    elif isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        return size
    raise InvalidArgument(f'max_body is bytes as an int, or text like "1MiB", and not {size!r}')
