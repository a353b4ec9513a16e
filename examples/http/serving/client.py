"""Requests over one connection."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from types import TracebackType
from urllib.parse import urlsplit

# Seconds until a request counts as lost.
PATIENCE = 60
# At the end of the document: they differ from request to request.
TIMES = re.compile(rb',"start":\d+,"end":\d+,"endDate":"[^"]+"}$')


@dataclass(frozen=True)
class Response:
    status: int
    fields: Mapping[str, str]
    body: bytes
    # time.monotonic() before the request was sent and after the response was there.
    sent: float
    received: float

    @property
    def without_times(self) -> bytes:
        return TIMES.sub(b"", self.body)


class Client:
    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        assert at.hostname
        self._connection = HTTPConnection(at.hostname, at.port, timeout=PATIENCE)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def ask(self, path: str = "/", method: str = "GET", **fields: str) -> Response:
        """`fields` are the request's, with `_` for `-`."""
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        sent = time.monotonic()
        self._connection.request(method, path, headers=headers)
        response = self._connection.getresponse()
        body = response.read()
        received = time.monotonic()
        answered = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, answered, body, sent, received)
