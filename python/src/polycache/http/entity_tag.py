"""Entity tags and the conditions that compare them (RFC 9110 8.8.3, 13.1)."""

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256

_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_IS_TAG = re.compile(_TAG)
# An element may be empty (RFC 9110 5.6.1), and a tag may have a comma in it.
_ELEMENT = re.compile(rf"[ \t]*(?:({_TAG})[ \t]*)?(?:,|\Z)")


def entity_tag(content: bytes) -> str:
    """The strong entity tag of bytes: the first 128 bits of their SHA-256, as base64url in quotes.
    So all processes and languages that serve the same bytes agree."""
    digest = urlsafe_b64encode(sha256(content).digest()[:16]).decode().rstrip("=")
    return f'"{digest}"'


def is_entity_tag(text: object) -> bool:
    """Whether that is a tag, in its quotes."""
    return isinstance(text, str) and _IS_TAG.fullmatch(text) is not None


def weak(tag: str) -> str:
    """The same tag as a weak one."""
    return tag if tag.startswith("W/") else f"W/{tag}"


def none_match_names(field: str, tag: str | None) -> bool:
    """Whether If-None-Match names the tag, by weak comparison. `*` names every one. Text that is no
    list of tags names none, so that the answer is the whole one."""
    if field.strip() == "*":
        return True
    return tag is not None and _any(field, lambda one: _opaque(one) == _opaque(tag))


def match_names(field: str, tag: str | None) -> bool:
    """Whether If-Match names the tag, by strong comparison: a weak tag is equal to none."""
    if field.strip() == "*":
        return True
    return tag is not None and not tag.startswith("W/") and _any(field, lambda one: one == tag)


def _opaque(tag: str) -> str:
    return tag.removeprefix("W/")


def _any(field: str, test: Callable[[str], bool]) -> bool:
    at, found = 0, False
    while at < len(field):
        element = _ELEMENT.match(field, at)
        if element is None:
            return False
        if element[1] is not None:
            found = found or test(element[1])
        at = element.end()
    return found
