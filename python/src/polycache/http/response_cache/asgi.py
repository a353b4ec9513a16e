"""A response cache before an application of ASGI."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextvars import Context, copy_context
from typing import Any, Unpack

from ...async_cache import AsyncCache
from ...cache import Cache
from ...errors import InvalidArgument
from ...loading import inside
from ..answer import Answer, answer, answer_now, fields_of
from ..policy import Policy
from ..representation import Representation
from .call import Call, Core, Judge, Pass, Refused, Request, Whole
from .request_key import seen_of, target_of, url_of
from .settings import ResponseCacheOptions, Settings
from .store import AnswerStore, at_once

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# Of a scope: what the key stands for, what the server and the program are, and what Starlette's
# routing makes of the path.
_SEEN = (
    *("type", "asgi", "http_version", "scheme", "path", "query_string", "root_path"),
    *("app", "app_root_path", "endpoint", "path_params", "route", "router"),
)

_GRACE = 5.0
"""Seconds that an application has to end itself."""


class ResponseCache:
    """Puts a cache before an application of ASGI, such as those of Starlette, FastAPI and Django: a
    shared cache (RFC 9111), which never gives one user's answer to another. `spec/http.md`, "A
    response cache", says what it does.

        app.add_middleware(ResponseCache, cache=AsyncCache(namespace="pages"), ttl="10s")

    - Stored are complete answers to GET that say how long they are fresh (or `ttl` does), without
      Set-Cookie, `private`, `no-store` and `no-cache`, whose Vary names only what is in the key.
      HEAD, conditions and Accept-Encoding are answered from them.
    - For an answer that may be stored, the application sees only those request fields that belong
      to the key or are `covered`; of the scope only what every request for the key has; and as
      `state` and context variables those of the lifespan. So it cannot make the answer of anything
      else. Where its answer cannot be stored after all, it is stopped, and asked once more with the
      whole request.
    - Of all callers of this machine one asks the application, by `AsyncCache.get_or_set`.
    - A request that is not GET or HEAD passes; if it succeeds, the answers of its URL are forgotten
      (RFC 9111 4.4).
    - Where the cache fails, the application answers.

    Give the cache a namespace of its own, and `memory={"isolation": "none"}`: what is read is never
    changed. Needs asyncio. Raises InvalidArgument.
    """

    def __init__(
        self,
        app: Application,
        cache: AsyncCache | Cache | AnswerStore,
        **options: Unpack[ResponseCacheOptions],
    ) -> None:
        if not callable(app) or not hasattr(cache, "get_or_set"):
            raise InvalidArgument("a response cache takes an application and an AsyncCache")
        self.app = app
        store = AsyncCache.over(cache) if isinstance(cache, Cache) else cache
        # A call that may wait for a server is no coroutine that ends at once.
        self._waits = not isinstance(store, AsyncCache) or store._waits
        self._settings = Settings(options)
        self._core = Core(store, self._settings, _respond, self._finish)
        self._tasks: set[asyncio.Task[object]] = set()
        self._state: Mapping[str, Any] | None = None
        self._context = Context()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
            return
        if scope["type"] == "lifespan":
            # Requests have copies of these, to which code outside may add what it knows of a
            # request.
            self._state = scope.get("state")
            self._context = copy_context()
        await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        fields = fields_of((_text(name), _text(value)) for name, value in scope["headers"])
        raw = scope.get("raw_path")
        target = target_of(scope["path"].encode("utf-8", "replace"), raw)
        is_raw = raw is not None and target == _text(raw)
        key = self._settings.key

        def given() -> str | None:
            if key is not None:
                return key(scope)
            url = (scope.get("scheme", "http"), fields.get("host"), target)
            query = _text(scope.get("query_string", b""))
            return url_of(*url, query, scope.get("root_path", ""))

        def seen() -> Scope:
            names = (*_SEEN, *(["raw_path"] if is_raw else ()), *self._settings.extensions)
            state = {} if self._state is None else {"state": dict(self._state)}
            known = {name: scope[name] for name in names if name in scope}
            kept = seen_of(fields, self._settings.keyed)
            headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in kept]
            hidden = {"method": "GET", "headers": headers, "client": None, "server": None}
            return state | hidden | known

        origin = _Origin(self.app, seen, self._context)
        call = Call(self._core, Request(scope["method"], fields, given), origin)
        try:
            outcome = await call.answer()
            if isinstance(outcome, Pass):
                await self._pass(call, outcome.status, scope, receive, send)
                return
            await _send(outcome, send)
            await call.answered()
            await origin.ended(self._settings.tell)
        finally:
            origin.leave()

    async def _pass(
        self, call: Call, status: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                await call.passed(message["status"])
                if self._settings.cache_status:
                    field = (b"cache-status", f"polycache; {status}".encode("latin-1"))
                    message = {**message, "headers": [*message.get("headers", ()), field]}
            await send(message)

        await self.app(scope, receive, told)

    def _finish(self, call: Any) -> None:
        if self._waits:
            task = asyncio.create_task(call)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            at_once(call)


class _Origin:
    """The application, for one request."""

    def __init__(self, app: Application, seen: Callable[[], Scope], context: Context) -> None:
        self._app = app
        self._seen = seen
        self._context = context
        self._asked: list[tuple[asyncio.Task[None], _Making]] = []

    async def make(self, judge: Judge, max_body: int) -> Whole | Refused:
        making = _Making(judge, max_body)
        context = self._context.copy()
        # Loads within are part of the load that this is: they do not wait for it.
        context.run(inside.set, inside.get())

        async def run() -> None:
            await self._app(self._seen(), making.receive, making.send)

        task = asyncio.get_running_loop().create_task(run(), context=context)
        task.add_done_callback(_error_of)
        self._asked.append((task, making))
        try:
            await asyncio.wait((task, making.made), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not making.made.done() or making.is_unwanted:
                making.stop(task)
        error = _error_of(task) if task.done() else None
        if making.made.done():
            made = making.made.result()
            return made if isinstance(made, Whole) else Refused(made.why, error)
        # It ended before its answer did.
        if making.status >= 500:
            return Refused("server-error", error)
        raise error or RuntimeError("the application ended before its answer")

    async def ended(self, tell: Callable[[Exception], object]) -> None:
        """Waits until the application has done what it does behind a complete answer."""
        for task, making in self._asked:
            if making.is_whole:
                await asyncio.wait((task,))
                if (error := _error_of(task)) is not None:
                    tell(error)

    def leave(self) -> None:
        """Nobody waits for it any more."""
        for task, making in self._asked:
            if not task.done():
                making.stop(task)


class _Making:
    """Takes an answer that goes to nobody yet."""

    def __init__(self, judge: Judge, max_body: int) -> None:
        self._judge = judge
        self._max_body = max_body
        self.made: asyncio.Future[Whole | Refused] = asyncio.get_running_loop().create_future()
        self.status = 0
        self.is_unwanted = False
        """The application is to be stopped."""
        self._fields: Mapping[str, str] = {}
        self._chunks: list[bytes] = []
        self._size = 0
        self._is_asked = False
        self._is_stopped = False
        self._is_told = False
        self._listeners = 0
        self._over = asyncio.Event()

    def stop(self, task: asyncio.Task[None]) -> None:
        """As if the client had left: an application that listens for that ends itself. Django would
        leave tasks behind if it was cancelled."""
        if self._is_told:
            return
        self._is_told = self.is_unwanted = True
        if self._listeners:
            self._over.set()
            asyncio.get_running_loop().call_later(_GRACE, task.cancel)
        else:
            task.cancel()

    async def receive(self) -> Message:
        if self._is_asked:
            self._listeners += 1
            try:
                await self._over.wait()
            finally:
                self._listeners -= 1
            return {"type": "http.disconnect"}
        self._is_asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(self, message: Message) -> None:
        if self.is_unwanted or self.made.done():
            await self._wait_to_be_stopped()
        elif message["type"] == "http.response.start" and not self.status:
            await self._start(message)
        elif message["type"] == "http.response.body" and self.status:
            await self._body(message)
        else:
            raise RuntimeError(f"a server takes no {message['type']} here")

    async def _start(self, message: Message) -> None:
        self.status = message["status"]
        headers = message.get("headers", ())
        self._fields = fields_of((_text(name), _text(value)) for name, value in headers)
        why = "trailers" if message.get("trailers") else self._judge(self.status, self._fields)
        # An application that failed has mostly an error to raise behind its answer.
        if why is not None and why != "server-error":
            await self._refuse(why)

    async def _body(self, message: Message) -> None:
        has_failed = self.status >= 500
        body = message.get("body", b"")
        self._size += len(body)
        if self._size > self._max_body:
            await self._refuse("server-error" if has_failed else "too-large")
        if not has_failed:
            self._chunks.append(bytes(body))
        if not message.get("more_body", False):
            whole = Whole(self.status, self._fields, b"".join(self._chunks))
            self.made.set_result(Refused("server-error") if has_failed else whole)
            self._over.set()

    async def _refuse(self, why: str) -> None:
        self.is_unwanted = True
        self.made.set_result(Refused(why))
        await self._wait_to_be_stopped()

    async def _wait_to_be_stopped(self) -> None:
        # What it does behind its answer it does once, for the whole request.
        if self.is_unwanted:
            if self._is_stopped:
                raise OSError("nobody wants this answer")
            self._is_stopped = True
            await asyncio.get_running_loop().create_future()

    @property
    def is_whole(self) -> bool:
        return self.made.done() and isinstance(self.made.result(), Whole)


def _error_of(task: asyncio.Task[None]) -> Exception | None:
    """The task's error. One that nobody looks at would be logged by asyncio."""
    error = None if task.cancelled() else task.exception()
    return error if isinstance(error, Exception) else None


async def _send(answer: Answer, send: Send) -> None:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _respond(
    representation: Representation, policy: Policy, method: str, fields: Mapping[str, str]
) -> Answer:
    made = answer_now(representation, policy, method, fields)
    if made is not None:
        return made
    # Compressing a large value takes milliseconds, in which others want the loop.
    return await asyncio.to_thread(answer, representation, policy, method, fields)


def _text(field: bytes) -> str:
    return field.decode("latin-1")
