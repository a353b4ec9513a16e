"""What HTTP says to a request for a representation (RFC 9110)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from .accept_encoding import choose_coding
from .entity_tag import match_names, none_match_names
from .policy import Policy
from .problem import problem_answer

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
"""The fields of a request, by names in any case."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, before it is written in the way of a server."""

    status: int
    headers: list[tuple[str, str]]
    """Names are in lower case."""
    body: bytes
    """Empty where there is none, as for HEAD."""


class Selectable(Protocol):
    """What is asked for, in any coding."""

    @property
    def size(self) -> int: ...
    @property
    def _is_compressed(self) -> bool:
        """Whether its bytes are compressed already, so that a coding would only cost time."""

    def _codings(self, policy: Policy) -> tuple[str, ...]: ...
    def _is_ready(self, coding: str) -> bool:
        """Whether nothing has to be compressed for the bytes."""

    def _is_tagged(self, coding: str) -> bool:
        """Whether nothing has to be compressed for the tag."""

    def _validated(self, coding: str, policy: Policy) -> tuple[str | None, list[tuple[str, str]]]:
        """The tag and the fields of 304."""

    def _whole(self, coding: str, policy: Policy) -> tuple[bytes, list[tuple[str, str]]]:
        """The bytes and the fields of 200."""


def answer(subject: Selectable, policy: Policy, method: str, headers: Headers) -> Answer:
    """405 for another method than GET and HEAD; 406 where nothing that there is is acceptable; 412
    where If-Match names another tag, 304 where If-None-Match names this one; else 200."""
    found = _answer(subject, policy, method, headers, now=False)
    assert found is not None
    return found


def answer_now(subject: Selectable, policy: Policy, method: str, headers: Headers) -> Answer | None:
    """The same; None where something has to be compressed first."""
    return _answer(subject, policy, method, headers, now=True)


def _answer(
    subject: Selectable, policy: Policy, method: str, headers: Headers, *, now: bool
) -> Answer | None:
    if method not in ("GET", "HEAD"):
        return problem_answer(405, method)
    fields = fields_of(headers) if headers else _NOTHING
    is_plain = subject.size < policy.compress_from or subject._is_compressed
    coding = choose_coding(fields.get("accept-encoding"), subject._codings(policy), is_plain)
    if coding is None:
        return problem_answer(406, method)
    if_match, if_none_match = fields.get("if-match"), fields.get("if-none-match")
    if if_match is not None or if_none_match is not None:
        if now and not subject._is_tagged(coding):
            return None
        etag, unmodified = subject._validated(coding, policy)
        if if_match is not None and not match_names(if_match, etag):
            return problem_answer(412, method)
        if if_none_match is not None and none_match_names(if_none_match, etag):
            return Answer(304, unmodified, b"")
    if now and not subject._is_ready(coding):
        return None
    content, full = subject._whole(coding, policy)
    return Answer(200, full, b"" if method == "HEAD" else content)


_NOTHING: Mapping[str, str] = {}


def fields_of(headers: Headers) -> dict[str, str]:
    """By name in lower case; fields of one name are a list (RFC 9110 5.3), but for Cookie
    (RFC 9113 8.2.3)."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    fields: dict[str, str] = {}
    for name, value in pairs:
        key = name.lower()
        if key in fields:
            fields[key] += f"{'; ' if key == 'cookie' else ', '}{value}"
        else:
            fields[key] = value
    return fields
