"""Response caches of ASGI and of WSGI before an origin that a test tells what to answer."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Protocol
from urllib.parse import unquote_to_bytes

from polycache import AsyncCache, Cache
from polycache.http.asgi import ResponseCache as AsgiCache
from polycache.http.wsgi import ResponseCache as WsgiCache

START = 1_767_225_600_000
"""The clock of the cases at 0, in milliseconds."""


@dataclass
class Asked:
    """A request."""

    method: str = "GET"
    target: str = "/"
    host: str | None = "test.example"
    headers: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More of the scope or the environ."""


@dataclass
class Got:
    """An answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def cache_status(self) -> str:
        return self.headers["cache-status"].removeprefix("polycache; ")


class Origin:
    """Answers what it is told to, and counts how often it is asked."""

    def __init__(self) -> None:
        self.answer: Any = "fails"
        self.asked = 0

    def answers(self, method: str, seen: Mapping[str, str]) -> Got:
        self.asked += 1
        if self.answer == "fails":
            raise OSError("the origin is down")
        filled = re.sub(
            r"\$\{field:([\w-]+)\}", lambda name: seen.get(name[1], "-"), self.answer["body"]
        )
        is_empty = method == "HEAD" or self.answer["status"] == 204
        body = b"" if is_empty else filled.encode()
        return Got(self.answer["status"], self.answer["headers"], body)

    async def asgi(self, scope: Any, receive: Any, send: Any) -> None:
        assert await receive() == {"type": "http.request", "body": b"", "more_body": False}
        seen = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        got = self.answers(scope["method"], seen)
        await send(start(got.status, got.headers))
        await send({"type": "http.response.body", "body": got.body})

    def wsgi(self, environ: Any, start_response: Any) -> list[bytes]:
        assert environ["wsgi.input"].read() == b""
        seen = {
            name[5:].replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        got = self.answers(environ["REQUEST_METHOD"], seen)
        start_response(f"{got.status} Told", list(got.headers.items()))
        return [got.body]


def start(status: int, headers: Mapping[str, str]) -> dict[str, Any]:
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": pairs}


class Client(Protocol):
    """What a test asks; what is done behind an answer is done when it returns."""

    async def __call__(self, asked: Asked) -> Got: ...


def scope_of(asked: Asked) -> dict[str, Any]:
    path, _, query = asked.target.partition("?")
    headers = {"host": asked.host, **asked.headers}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": asked.method,
        "scheme": "http",
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (name.encode(), value.encode("latin-1"))
            for name, value in headers.items()
            if value is not None
        ],
        "client": ("203.0.113.7", 4711),
        "server": ("127.0.0.1", 80),
        **asked.extra,
    }


async def ask_asgi(application: Any, asked: Asked) -> Got:
    messages = [{"type": "http.request", "body": b"", "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        sent.append(message)

    await application(scope_of(asked), receive, send)
    begun, *rest = sent
    headers = {name.decode(): value.decode("latin-1") for name, value in begun["headers"]}
    return Got(begun["status"], headers, b"".join(one.get("body", b"") for one in rest))


def environ_of(asked: Asked) -> dict[str, Any]:
    path, _, query = asked.target.partition("?")
    headers = {"host": asked.host, **asked.headers}
    return {
        "REQUEST_METHOD": asked.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "RAW_URI": asked.target,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "203.0.113.7",
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(),
        **{
            f"HTTP_{name.upper().replace('-', '_')}": value
            for name, value in headers.items()
            if value is not None
        },
        **asked.extra,
    }


def ask_wsgi(application: Any, asked: Asked) -> Got:
    begun: list[Any] = []

    def start_response(status: str, headers: Any, error: Any = None) -> Callable[[bytes], None]:
        begun[:] = [int(status[:3]), {name.lower(): value for name, value in headers}]
        return written.append

    written: list[bytes] = []
    body = application(environ_of(asked), start_response)
    try:
        written.extend(body)
    finally:
        if hasattr(body, "close"):
            body.close()
    return Got(begun[0], begun[1], b"".join(written))


def client(kind: str, cache: Cache, origin: Origin, **options: Any) -> Client:
    """Asks an origin behind a response cache."""
    if kind == "asgi":
        asgi = AsgiCache(origin.asgi, AsyncCache.over(cache), **options)
        return lambda asked: ask_asgi(asgi, asked)
    wsgi = WsgiCache(origin.wsgi, cache, **options)

    async def ask(asked: Asked) -> Got:
        return ask_wsgi(wsgi, asked)

    return ask
