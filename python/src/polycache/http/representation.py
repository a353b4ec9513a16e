"""Bytes that are served over HTTP."""

import json
import os
import re
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InvalidArgument
from .answer import Answer, Headers, answer
from .codings import CODINGS, compress
from .compressed_types import is_compressed
from .entity_tag import entity_tag, is_entity_tag, weak
from .policy import DEFAULT, Policy, checked_value

_FIELDS = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json(?:[ \t]*;.*)?", re.I | re.A)
Fields = list[tuple[str, str]]
Content = bytes

_forks = 0
"""How often this process was forked."""


def _in_child() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class Representation:
    """Bytes that are served over HTTP: encoded once, with a strong entity tag and compressed
    variants, each made when it is first asked for. One representation serves any number of
    requests, from any thread.

        page = Representation(b"[1,2,3]")
        answer = page.respond("GET", {"accept-encoding": "gzip"})

    content_type: the media type.
    stored_at: when the bytes were last known to be current, in seconds since 1970, for the field
    Age (RFC 9111 5.1). Default: they are current, so there is no Age.
    etag: the entity tag of the bytes, where they have one already. Default: a hash of them.
    clock: seconds since 1970, for tests.

    Raises InvalidArgument.
    """

    __slots__ = (
        *("_clock", "_envelope", "_forks", "_is_compressed", "_is_json", "_lock", "_told"),
        *("_variants", "bytes", "content_type", "etag", "stored_at"),
    )

    def __init__(
        self,
        content: bytes,
        content_type: str = "application/json",
        *,
        stored_at: float | None = None,
        etag: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not isinstance(content, bytes):
            raise InvalidArgument("a representation is made of bytes")
        if etag is not None and not is_entity_tag(etag):
            raise InvalidArgument(f"{etag!r} is no entity tag: write '\"v1\"' with the quotes")
        if stored_at is not None and not isinstance(stored_at, (int, float)):
            raise InvalidArgument("stored_at is a number of seconds since 1970")
        self.bytes = content
        self.content_type = checked_value("content-type", content_type)
        self.stored_at = stored_at
        self.etag = entity_tag(content) if etag is None else etag
        """A strong one unless you gave another. A compressed variant has another one."""
        self._clock = clock
        self._variants: dict[str, tuple[bytes, str]] = {}
        self._envelope: _Envelope | None = None
        self._is_compressed = is_compressed(content_type)
        self._is_json = _JSON.fullmatch(content_type) is not None
        self._told: tuple[str, Policy, Fields] | None = None
        self._lock = threading.Lock()
        self._forks = _forks

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.bytes)

    def respond(self, method: str, headers: Headers, policy: Policy = DEFAULT) -> Answer:
        """The answer to a request: 200, 304, 405, 406 or 412, by GET, HEAD, If-Match, If-None-Match
        and Accept-Encoding. `headers` is a mapping, or pairs of names and values."""
        return answer(self, policy, method, headers)

    def encoded(self, coding: str) -> bytes:
        """The bytes in a content coding, made when they are first asked for.

        Raises InvalidArgument for a coding that cannot be made here."""
        return self._variant(coding)[0]

    def within(
        self, name: str, fields: Mapping[str, Any] | None = None, *, incidental: bool = False
    ) -> "Composite":
        """A JSON document with these bytes, which are JSON themselves, as its first member and with
        fields of your own: `{"value":<bytes>,"start":1}`. The bytes are neither parsed nor encoded
        again.

        incidental: the fields do not matter to a client that has the value already. Then the
        document has the value's tag as a weak one; else it has none.

        Raises InvalidArgument for a representation that is not JSON, or where a field has the same
        name.
        """
        if not self._is_json:
            raise InvalidArgument(
                f"only JSON has fields around it, and this is {self.content_type}"
            )
        given = dict(fields or {})
        if name in given:
            raise InvalidArgument(f"{name} is the name of the value; a field needs another one")
        envelope = self._envelope
        if envelope is None or envelope.name != name:
            envelope = self._envelope = _Envelope(name, self.bytes)
        tail = f",{_FIELDS(given)[1:]}" if given else "}"
        return Composite(self, envelope, tail.encode(), incidental)

    def _codings(self, policy: Policy) -> tuple[str, ...]:
        return policy.codings

    def _is_ready(self, coding: str) -> bool:
        return coding == "identity" or coding in self._variants

    def _is_tagged(self, coding: str) -> bool:
        # A variant's tag is a hash of its own bytes.
        return self._is_ready(coding)

    def _validated(self, coding: str, policy: Policy) -> tuple[str | None, Fields]:
        etag = self._variant(coding)[1]
        return etag, [*self._aged(policy), ("etag", etag)]

    def _whole(self, coding: str, policy: Policy) -> tuple[bytes, Fields]:
        content, etag = self._variant(coding)
        own = [("etag", etag), ("content-length", str(len(content)))]
        return content, [*self._described(policy, coding), *own]

    def _described(self, policy: Policy, coding: str) -> Fields:
        """Not to be changed: the same for all requests that are served in one way."""
        told = self._told
        if told is not None and told[0] == coding and told[1] is policy:
            return told[2]
        fields = [("content-type", self.content_type)] if self.content_type else []
        if coding != "identity":
            fields.append(("content-encoding", coding))
        fields += self._aged(policy)
        if self.stored_at is None:
            # Requests differ by little, so the last way is mostly the next one, too.
            self._told = (coding, policy, fields)
        return fields

    def _aged(self, policy: Policy) -> Fields:
        if self.stored_at is None:
            return policy.always
        # A clock that was set back makes nothing younger than 0.
        age = max(0, int(self._clock() - self.stored_at))
        return [*policy.always, ("age", str(age))]

    def _variant(self, coding: str) -> tuple[bytes, str]:
        if coding == "identity":
            return self.bytes, self.etag
        if coding not in CODINGS:
            raise InvalidArgument(f"this installation makes {', '.join(CODINGS)}, and not {coding}")
        variant = self._variants.get(coding)
        if variant is None:
            if self._forks != _forks:
                # A thread of the parent may have held it, which is not here.
                self._lock, self._forks = threading.Lock(), _forks
            # One thread compresses; the others want the same.
            with self._lock:
                variant = self._variants.get(coding)
                if variant is None:
                    content = compress(self.bytes, coding)
                    variant = self._variants[coding] = (content, entity_tag(content))
        return variant


class Composite:
    """A small JSON document around a value: what `Representation.within` makes."""

    __slots__ = ("_envelope", "_incidental", "_of", "_tail")

    def __init__(
        self, of: Representation, envelope: "_Envelope", tail: Content, incidental: bool
    ) -> None:
        self._of = of
        self._envelope = envelope
        self._tail = tail
        self._incidental = incidental

    @property
    def _is_compressed(self) -> bool:
        # It is JSON.
        return False

    @property
    def bytes(self) -> Content:
        """The document, joined anew at each call."""
        return self._envelope.plain + self._tail

    @property
    def size(self) -> int:
        """Number of its bytes."""
        return len(self._envelope.plain) + len(self._tail)

    @property
    def etag(self) -> str | None:
        """The weak tag of the value where the fields are incidental."""
        return weak(self._of.etag) if self._incidental else None

    def respond(self, method: str, headers: Headers, policy: Policy = DEFAULT) -> Answer:
        """As `Representation.respond`."""
        return answer(self, policy, method, headers)

    def _codings(self, policy: Policy) -> tuple[str, ...]:
        return ("gzip",) if "gzip" in policy.codings else ()

    def _is_ready(self, coding: str) -> bool:
        return coding == "identity" or self._envelope.is_deflated

    def _is_tagged(self, coding: str) -> bool:
        # The tag is the value's.
        return True

    def _validated(self, coding: str, policy: Policy) -> tuple[str | None, Fields]:
        return self.etag, [*self._of._aged(policy), *self._tagged()]

    def _whole(self, coding: str, policy: Policy) -> tuple[Content, Fields]:
        content = self.bytes if coding == "identity" else self._envelope.gzip(self._tail)
        own = [*self._tagged(), ("content-length", str(len(content)))]
        return content, [*self._of._described(policy, coding), *own]

    def _tagged(self) -> Fields:
        etag = self.etag
        return [("etag", etag)] if etag is not None else []


class _Envelope:
    """What documents around one value under one name have in common."""

    __slots__ = ("_checksum", "_deflated", "name", "plain")

    def __init__(self, name: str, value: bytes) -> None:
        self.name = name
        self.plain = b"{" + json.dumps(name, ensure_ascii=False).encode() + b":" + value
        self._deflated: bytes | None = None
        self._checksum = 0

    @property
    def is_deflated(self) -> bool:
        return self._deflated is not None

    def gzip(self, tail: bytes) -> bytes:
        """The document as a gzip member: the beginning is deflated once, and the tail stands behind
        it in stored blocks (RFC 1951 3.2.4)."""
        deflated = self._deflated
        if deflated is None:
            maker = zlib.compressobj(6, zlib.DEFLATED, -15)
            deflated = maker.compress(self.plain) + maker.flush(zlib.Z_FULL_FLUSH)
            self._checksum = zlib.crc32(self.plain)
            self._deflated = deflated
        stored = b"".join(
            bytes([at + 65535 >= len(tail)])
            + len(part := tail[at : at + 65535]).to_bytes(2, "little")
            + (len(part) ^ 0xFFFF).to_bytes(2, "little")
            + part
            for at in range(0, len(tail), 65535)
        )
        checksum = zlib.crc32(tail, self._checksum)
        length = (len(self.plain) + len(tail)) & 0xFFFFFFFF
        ending = checksum.to_bytes(4, "little") + length.to_bytes(4, "little")
        return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + deflated + stored + ending
