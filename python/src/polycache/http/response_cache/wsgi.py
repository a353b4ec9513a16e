"""A response cache before an application of WSGI (PEP 3333)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import copy_context
from http import HTTPStatus
from io import BytesIO
from typing import Any, Unpack

from ...cache import Cache
from ...errors import InvalidArgument
from ...loading import inside
from ..answer import Answer, answer, fields_of
from ..policy import Policy
from ..representation import Representation
from .call import Call, Core, Judge, Pass, Refused, Request, Whole
from .request_key import seen_of, server_of, target_of, url_of
from .settings import ResponseCacheOptions, Settings
from .store import Blocking, at_once

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]

# Of an environ: what the key stands for, and what the server is.
_SEEN = (
    *("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "SERVER_PROTOCOL"),
    *("wsgi.version", "wsgi.url_scheme", "wsgi.errors"),
    *("wsgi.multithread", "wsgi.multiprocess", "wsgi.run_once"),
)
# Fields that are no HTTP_ variables.
_CONTENT = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


class ResponseCache:
    """Puts a cache before an application of WSGI, such as those of Django and Flask: what
    `polycache.http.asgi.ResponseCache` is for ASGI, with the same options, and with the same
    answers in the same cache.

        application = ResponseCache(get_wsgi_application(), Cache(namespace="pages"), ttl="10s")

    For an answer that may be stored, the application sees of the environ only what every request
    for the key has, and the context variables of the code that made this object. It runs in the
    thread of a request, so it sees what code outside keeps in variables of the thread. What is
    fetched behind a stale answer is fetched by the thread that sent it, when the client has it.
    """

    def __init__(
        self, app: Application, cache: Cache, **options: Unpack[ResponseCacheOptions]
    ) -> None:
        if not callable(app) or not isinstance(cache, Cache):
            raise InvalidArgument("a response cache of WSGI takes an application and a Cache")
        self._app = app
        self._settings = Settings(options)
        self._core = Core(Blocking(cache), self._settings, _respond, at_once)
        self._context = copy_context()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        fields = _fields(environ)
        key = self._settings.key

        def given() -> str | None:
            return _url(environ, fields.get("host")) if key is None else key(environ)

        origin = _Origin(self._app, lambda: self._seen(environ, fields), self._run)
        call = Call(self._core, Request(environ["REQUEST_METHOD"], fields, given), origin)
        outcome = at_once(call.answer())
        if isinstance(outcome, Pass):
            return self._pass(call, outcome.status, environ, start_response)
        start_response(_status(outcome.status), outcome.headers)
        return _Body(outcome.body, lambda: at_once(call.answered()))

    def _pass(
        self, call: Call, status: str, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        def started(text: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            at_once(call.passed(int(text[:3])))
            if self._settings.cache_status:
                headers = [*headers, ("Cache-Status", f"polycache; {status}")]
            return start_response(text, headers, *error)

        return self._app(environ, started)

    def _seen(self, environ: Environ, fields: Mapping[str, str]) -> Environ:
        names = (*_SEEN, *self._settings.extensions)
        seen: Environ = {"REQUEST_METHOD": "GET", "wsgi.input": BytesIO()}
        server = server_of(environ["wsgi.url_scheme"], fields.get("host"))
        seen["SERVER_NAME"], seen["SERVER_PORT"] = server
        for name, value in seen_of(fields, self._settings.keyed):
            seen[_CONTENT.get(name) or f"HTTP_{name.upper().replace('-', '_')}"] = value
        return seen | {name: environ[name] for name in names if name in environ}

    def _run(self, function: Callable[[], Whole | Refused]) -> Whole | Refused:
        context = self._context.copy()
        # Loads within are part of the load that this is: they do not wait for it.
        context.run(inside.set, inside.get())
        return context.run(function)


class _Origin:
    """The application, for one request."""

    def __init__(
        self,
        app: Application,
        seen: Callable[[], Environ],
        run: Callable[[Callable[[], Whole | Refused]], Whole | Refused],
    ) -> None:
        self._app = app
        self._seen = seen
        self._run = run

    async def make(self, judge: Judge, max_body: int) -> Whole | Refused:
        return self._run(lambda: _make(self._app, self._seen(), judge, max_body))


def _make(app: Application, environ: Environ, judge: Judge, max_body: int) -> Whole | Refused:
    begun: list[tuple[int, Mapping[str, str]]] = []
    chunks: list[bytes] = []
    size = 0

    def write(chunk: bytes) -> None:
        nonlocal size
        size += len(chunk)
        # What is too large is not kept.
        if size <= max_body:
            chunks.append(chunk)

    def start_response(text: str, headers: list[tuple[str, str]], *_: Any) -> Any:
        begun[:] = [(int(text[:3]), fields_of(headers))]
        return write

    def refusal() -> str | None:
        return "too-large" if size > max_body else judge(*begun[0]) if begun else None

    body = app(environ, start_response)
    try:
        is_judged = False
        for chunk in body:
            write(chunk)
            # An application of WSGI starts with its first piece at the latest.
            if (size > max_body or not is_judged) and (why := refusal()) is not None:
                return Refused(why)
            is_judged = True
        if not begun:
            raise RuntimeError("the application did not call start_response")
        if not is_judged and (why := refusal()) is not None:
            return Refused(why)
    finally:
        if hasattr(body, "close"):
            body.close()
    return Whole(*begun[0], b"".join(chunks))


class _Body:
    """A body in one piece, and what is done when the client has it."""

    def __init__(self, body: bytes, close: Callable[[], None]) -> None:
        self._body = body
        self.close = close

    def __iter__(self) -> Iterator[bytes]:
        return iter((self._body,))

    def __len__(self) -> int:
        return 1


def _url(environ: Environ, host: str | None) -> str | None:
    mount = environ.get("SCRIPT_NAME", "")
    path = (mount + environ.get("PATH_INFO", "")).encode("latin-1")
    # As gunicorn, and as uWSGI and mod_wsgi call it.
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    given = raw.split("?", 1)[0].encode("latin-1") if isinstance(raw, str) else None
    target = target_of(path or b"/", given)
    query = environ.get("QUERY_STRING", "")
    return url_of(environ["wsgi.url_scheme"], host, target, query, mount)


def _fields(environ: Environ) -> Mapping[str, str]:
    fields = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    return fields | {name: environ[known] for name, known in _CONTENT.items() if known in environ}


def _status(status: int) -> str:
    known = status in HTTPStatus._value2member_map_
    return f"{status} {HTTPStatus(status).phrase if known else 'Answer'}"


async def _respond(
    representation: Representation, policy: Policy, method: str, fields: Mapping[str, str]
) -> Answer:
    return answer(representation, policy, method, fields)
