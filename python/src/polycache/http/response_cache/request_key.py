"""What an answer is stored under, and what its handler may see (`spec/http.md`, "The keys")."""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Set
from hashlib import sha256
from urllib.parse import quote, unquote_to_bytes

_LONGEST = 400
"""A longer part of a key, in the units of UTF-16, is told by its hash."""

_HOST = re.compile(r"(?:[a-z0-9._~!$&'()*+;=%-]+|\[[0-9a-f:.]+\])(?::[0-9]+)?")
# What a path may have without an escape (RFC 3986 3.3).
_IN_PATHS = "/~!$&'()*+,;=:@"


def base_of(given: str) -> str:
    """What the keys of all values of the fields begin with: of the key that was given, or of the
    URL."""
    return _part(given)


def key_of(base: str, fields: Mapping[str, str], vary: Iterable[str]) -> str:
    """The key of an answer: with the values of the fields that belong to it. Quotes end each part,
    so that no part can pretend to be two."""
    return base + "".join(_part(fields.get(name)) for name in vary)


def _part(text: str | None) -> str:
    if text is None:
        return "-"
    if len(text) + sum(letter > "\uffff" for letter in text) <= _LONGEST:
        return json.dumps(text, ensure_ascii=False)
    digest = sha256(text.encode()).digest()
    return f'#{urlsafe_b64encode(digest).decode().rstrip("=")}"'


def url_of(scheme: str, host: str | None, target: str, query: str, mount: str) -> str | None:
    """The URL of a request with its query; None where the request does not say of which host it is,
    or says so twice. `mount` is the part of the path that leads to the handler, who sees it."""
    if host is None or not target.startswith("/"):
        return None
    name = host.lower()
    if scheme not in ("http", "https") or _HOST.fullmatch(name) is None:
        return None
    name = name.removesuffix(":443" if scheme == "https" else ":80")
    behind = f"#{quote(mount, safe=_IN_PATHS)}" if mount else ""
    return f"{scheme}://{name}{target}{'?' if query else ''}{query}{behind}"


def target_of(path: bytes, raw: bytes | None) -> str:
    """A path as it stands in a URL: as the client wrote it, if that is what the handler sees (code
    outside of the cache may have put another path in its place), else with our escapes."""
    if raw is not None and unquote_to_bytes(raw) == path:
        return raw.decode("latin-1")
    return quote(path, safe=_IN_PATHS)


def server_of(scheme: str, host: str | None) -> tuple[str, str]:
    """Name and port of the server as the field Host has them: a server may make them of fields that
    are not in the key."""
    name, _, port = (host or "").rpartition(":")
    if not port.isdecimal():
        name, port = host or "", ""
    return name or "localhost", port or ("443" if scheme == "https" else "80")


# Conditions, ranges and codings are not the business of a handler whose answer may be stored.
_NEVER = frozenset(
    (
        *("accept-encoding", "if-match", "if-none-match", "if-modified-since"),
        *("if-unmodified-since", "if-range", "range"),
    )
)


def seen_of(fields: Mapping[str, str], keyed: Set[str]) -> list[tuple[str, str]]:
    """The fields that a handler sees whose answer may be stored: those that belong to the key or
    are covered. Lines of one name are one, as they are in the key."""
    names = sorted((keyed - _NEVER) | {"host"})
    return [(name, fields[name]) for name in names if name in fields]
