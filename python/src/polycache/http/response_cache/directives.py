"""Reads the field Cache-Control (RFC 9111 5.2)."""

import re
from collections.abc import Mapping

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_DIRECTIVE = re.compile(
    rf'[ \t]*(?:({_TOKEN})(?:=(?:({_TOKEN})|"((?:[^"\\]|\\.)*)"))?[ \t]*)?(?:,|\Z)'
)
_WORD = re.compile("[a-z-]+")
_MOST = 2**31

Directives = Mapping[str, str]
"""By name in lower case; those without an argument have ""."""


def directives_of(field: str | None) -> Directives:
    """The directives of a field. Of a repeated one the first counts. What follows after an error of
    syntax is not read, but names in it still count: a cache that is in doubt does not store."""
    found: dict[str, str] = {}
    at = 0
    while field is not None and at < len(field):
        match = _DIRECTIVE.match(field, at)
        if match is None:
            for word in _WORD.findall(field[at:].lower()):
                found.setdefault(word, "")
            break
        at = match.end()
        name, token, quoted = match.groups()
        if name is not None:
            found.setdefault(name.lower(), token or quoted or "")
    return found


def seconds_of(directives: Directives, name: str) -> int | None:
    """The seconds of a directive: None where it is absent, 0 where they are no whole number
    (RFC 9111 4.2.1)."""
    text = directives.get(name)
    return None if text is None else whole_seconds(text) or 0


def whole_seconds(text: str) -> int | None:
    """A whole number of seconds; one that is too large is as good as for ever."""
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0")
    return _MOST if len(digits) > 10 else min(int(digits or "0"), _MOST)
