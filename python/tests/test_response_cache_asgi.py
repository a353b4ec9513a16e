"""A response cache before an application of ASGI: many callers at once, callers that leave, bodies
that are too large or break off, and what the application may see."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any

import pytest
from helpers import LIMIT
from response_caches import Asked, Got, ask_asgi, scope_of, start

from polycache import AsyncCache, Cache, InvalidArgument
from polycache.http.asgi import ResponseCache

PAGE = {"cache-control": "max-age=60"}
PRIVATE = {"cache-control": "private"}


class App:
    """Answers by a function of the request's fields; `go` lets it, and `asked` counts."""

    def __init__(self, answer: Callable[[dict[str, str]], tuple[dict[str, str], str]]) -> None:
        self._answer = answer
        self.go = asyncio.Event()
        self.asked = 0
        self.ended = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        try:
            await self.go.wait()
            fields = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
            headers, body = self._answer(fields)
            await send(start(200, headers))
            await send({"type": "http.response.body", "body": body.encode()})
        finally:
            self.ended += 1


async def turn() -> None:
    """Lets every task run until it waits."""
    for _ in range(50):
        await asyncio.sleep(0)


async def is_asked(app: App, times: int = 1) -> None:
    while app.asked < times:
        await asyncio.sleep(0)
    await turn()


def user(fields: dict[str, str]) -> str:
    return f"for {fields.get('x-user', '-')}"


def of(number: int) -> Asked:
    return Asked(headers={"x-user": f"u{number}"})


@pytest.fixture
async def store(cache: Cache) -> AsyncIterator[AsyncCache]:
    yield AsyncCache.over(cache)
    # Nothing that was begun for a request outlives it.
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_many_callers_at_once_ask_the_application_once(store: AsyncCache) -> None:
    app = App(lambda fields: (PAGE, "page"))
    cached = ResponseCache(app, store)
    asking = [asyncio.ensure_future(ask_asgi(cached, of(number))) for number in range(500)]
    await is_asked(app)
    app.go.set()
    got = await asyncio.gather(*asking)
    assert {one.body for one in got} == {b"page"}
    assert sorted({one.cache_status for one in got}) == ["fwd=miss; stored", "hit; collapsed"]
    assert app.asked == 1


async def test_who_waited_for_a_private_answer_gets_an_own_one(store: AsyncCache) -> None:
    app = App(lambda fields: (PRIVATE, user(fields)))
    cached = ResponseCache(app, store)
    asking = [asyncio.ensure_future(ask_asgi(cached, of(number))) for number in range(50)]
    await is_asked(app)
    app.go.set()
    for number, got in enumerate(await asyncio.gather(*asking)):
        assert got.body == f"for u{number}".encode()
        assert got.cache_status == "fwd=bypass; detail=private"


async def test_who_waited_for_an_application_that_raises_asks_it(store: AsyncCache) -> None:
    def fails(fields: dict[str, str]) -> Any:
        raise LookupError(user(fields))

    app = App(fails)
    cached = ResponseCache(app, store)
    asking = [asyncio.ensure_future(ask_asgi(cached, of(number))) for number in range(20)]
    await is_asked(app)
    app.go.set()
    errors = await asyncio.gather(*asking, return_exceptions=True)
    assert [str(error) for error in errors] == [f"for u{number}" for number in range(20)]
    assert app.asked == 21


async def test_a_caller_that_leaves_keeps_nobody_from_asking(store: AsyncCache) -> None:
    app = App(lambda fields: (PAGE, "page"))
    cached = ResponseCache(app, store)
    leaving = asyncio.ensure_future(ask_asgi(cached, Asked()))
    await is_asked(app)
    staying = asyncio.ensure_future(ask_asgi(cached, Asked()))
    await turn()
    leaving.cancel()
    await is_asked(app, 2)
    assert app.ended == 1
    app.go.set()
    assert (await staying).body == b"page"
    with pytest.raises(asyncio.CancelledError):
        await leaving


async def test_all_callers_leave(store: AsyncCache) -> None:
    app = App(lambda fields: (PAGE, "page"))
    cached = ResponseCache(app, store)
    asking = [asyncio.ensure_future(ask_asgi(cached, Asked())) for _ in range(20)]
    await is_asked(app)
    for one in asking:
        one.cancel()
    await asyncio.gather(*asking, return_exceptions=True)
    await turn()
    assert app.ended == app.asked
    app.go.set()
    assert (await ask_asgi(cached, Asked())).cache_status == "fwd=miss; stored"


@pytest.mark.parametrize("vary", [[], ["accept-language"]])
async def test_a_post_ends_a_load_under_way(store: AsyncCache, vary: list[str]) -> None:
    version, go = 1, asyncio.Event()
    asked = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal version
        if scope["method"] == "POST":
            version += 1
        read = version
        asked.set()
        if scope["method"] == "GET":
            await go.wait()
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": str(read).encode()})

    cached = ResponseCache(app, store, vary=vary)
    german = Asked(headers={"accept-language": "de"})
    before = asyncio.ensure_future(ask_asgi(cached, german))
    await asked.wait()
    await turn()
    await ask_asgi(cached, Asked("POST"))
    go.set()
    assert (await before).body == b"1"
    # Whatever the first caller got, nobody gets it from the cache: it is of before.
    after = await ask_asgi(cached, german)
    assert (after.body, after.cache_status) == (b"2", "fwd=miss; stored")


@pytest.mark.parametrize("vary", [[], ["accept-language"]])
async def test_a_post_ends_a_load_in_place_of_a_stale_answer(
    store: AsyncCache, vary: list[str]
) -> None:
    version, asked, holds = 1, 0, asyncio.Event()
    gate = asyncio.Event()
    gate.set()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal version, asked
        if scope["method"] == "POST":
            version += 1
        read = version
        asked += 1
        if scope["method"] == "GET" and not gate.is_set():
            gate.set()
            await holds.wait()
        await send(start(200, {"cache-control": "max-age=0, stale-if-error=60"}))
        await send({"type": "http.response.body", "body": str(read).encode()})

    cached = ResponseCache(app, store, vary=vary)
    assert (await ask_asgi(cached, Asked())).body == b"1"
    gate.clear()
    before = asyncio.ensure_future(ask_asgi(cached, Asked()))
    while asked < 2:
        await asyncio.sleep(0)
    await ask_asgi(cached, Asked("POST"))
    assert (await ask_asgi(cached, Asked())).body == b"2"
    holds.set()
    assert (await before).body == b"1"
    after = await ask_asgi(cached, Asked())
    assert (after.body, after.cache_status) == (b"2", "fwd=miss; stored")


async def test_a_get_after_a_post_does_not_join_a_load_from_before_it(store: AsyncCache) -> None:
    version, asked, gate = 1, 0, asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal version, asked
        if scope["method"] == "POST":
            version += 1
        read, goes = version, gate
        asked += 1
        if scope["method"] == "GET":
            await goes.wait()
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": str(read).encode()})

    cached = ResponseCache(app, store, vary=["accept-language"])

    async def got() -> tuple[bytes, str | None]:
        answer = await ask_asgi(cached, Asked())
        return answer.body, answer.cache_status

    # Without a change before the load, and with one that all know of.
    for old in (1, 3):
        held = gate = asyncio.Event()
        asked = 0
        before = [asyncio.ensure_future(got()) for _ in range(2)]
        while asked == 0:
            await asyncio.sleep(0)
        await turn()
        await ask_asgi(cached, Asked("POST"))
        gate = asyncio.Event()
        gate.set()
        after = asyncio.ensure_future(got())
        await turn()
        held.set()
        loaded, joined = f"{old}".encode(), f"{old + 1}".encode()
        assert sorted(await asyncio.gather(*before)) == [
            (loaded, "fwd=miss; stored"),
            (loaded, "hit; collapsed"),
        ]
        assert await after == (joined, "fwd=bypass; detail=changed")
        assert await got() == (joined, "fwd=miss; stored")
        await ask_asgi(cached, Asked("POST"))


class Failing:
    """A cache of which some methods fail, or wait."""

    def __init__(self, store: AsyncCache, **methods: Any) -> None:
        self._store = store
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._store, name)


async def fails(*_: Any, **__: Any) -> Any:
    raise OSError("no cache")


async def test_who_leaves_before_looking_leaves_no_answer(store: AsyncCache) -> None:
    app = App(lambda fields: (PAGE, "page"))
    app.go.set()
    looks: list[str] = []

    async def get(key: str) -> Any:
        if key.startswith("changed "):
            looks.append(key)
            if len(looks) == 2:
                await asyncio.Event().wait()
        return await store.get(key)

    cached = ResponseCache(app, Failing(store, get=get), vary=["x-a"])
    leaving = asyncio.ensure_future(ask_asgi(cached, Asked()))
    while len(looks) < 2:
        await asyncio.sleep(0)
    key = '"http://test.example/"-'
    assert await store.has(key)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    await turn()
    assert not await store.has(key)


@pytest.mark.parametrize(
    ("failing", "status", "body"),
    [
        ("get set entry get_or_set compare_and_set delete", "fwd=bypass; detail=cache", "for ada"),
        ("get_or_set", "fwd=bypass; detail=cache", "for ada"),
        ("delete compare_and_set", "fwd=miss; stored", "for -"),
    ],
)
async def test_where_the_cache_fails_the_application_answers(
    store: AsyncCache, failing: str, status: str, body: str
) -> None:
    app = App(lambda fields: (PAGE, user(fields)))
    app.go.set()
    errors: list[Exception] = []
    broken = Failing(store, **dict.fromkeys(failing.split(), fails))
    cached = ResponseCache(app, broken, on_error=errors.append)
    got = await ask_asgi(cached, Asked(headers={"x-user": "ada"}))
    assert (got.cache_status, got.body) == (status, body.encode())
    posted = await ask_asgi(cached, Asked("POST", headers={"x-user": "ada"}))
    assert (posted.cache_status, posted.body) == ("fwd=method", b"for ada")
    assert len(errors) == (1 if failing.startswith("delete") else 2 - (failing == "get_or_set"))


async def test_a_load_that_cannot_be_settled_leaves_no_answer(store: AsyncCache) -> None:
    app = App(lambda fields: (PAGE, "page"))
    app.go.set()
    looks: list[str] = []

    async def get(key: str) -> Any:
        looks.append(key)
        if len(looks) == 3:
            raise OSError("no cache")
        return await store.get(key)

    errors: list[Exception] = []
    broken = Failing(store, get=get)
    cached = ResponseCache(app, broken, vary=["x-a"], on_error=errors.append)
    for status in ("fwd=miss; stored", "fwd=miss; stored", "hit"):
        assert (await ask_asgi(cached, Asked())).cache_status == status
        await turn()
    assert [str(error) for error in errors] == ["no cache"]


async def test_the_application_sees_only_what_is_in_the_key(store: AsyncCache) -> None:
    secret: ContextVar[str] = ContextVar("secret")
    started: ContextVar[str] = ContextVar("started")
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            scope["state"]["pool"] = "pool"
            return
        seen.append({**scope, "context": (secret.get("-"), started.get("-"))})
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": b"page"})

    cached = ResponseCache(
        app, store, vary=["x-a"], covered=["cookie", "range"], extensions=["tenant"]
    )
    state: dict[str, Any] = {}
    started.set("yes")
    await cached({"type": "lifespan", "state": state}, fails, fails)
    secret.set("of ada")
    known = {"user": "ada", "session": {"id": 1}, "tenant": "t", "path_params": {"id": 1}}
    extra = {**known, "state": {**state, "user": "ada"}, "extensions": {"tls": {"cert": "ada"}}}
    headers = {"x-a": "1", "x-user": "ada", "cookie": "seen=1", "range": "bytes=0-0"}
    await ask_asgi(cached, Asked(target="/a%2Fb?c=1", headers=headers, extra=extra))
    (scope,) = seen
    assert scope == {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/a/b",
        "raw_path": b"/a%2Fb",
        "query_string": b"c=1",
        "root_path": "",
        "headers": [(b"cookie", b"seen=1"), (b"host", b"test.example"), (b"x-a", b"1")],
        "client": None,
        "server": None,
        "state": {"pool": "pool"},
        "path_params": {"id": 1},
        "tenant": "t",
        "context": ("-", "yes"),
    }


async def test_a_path_that_was_rewritten_is_another_one(store: AsyncCache) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["path"], scope.get("raw_path")))
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": scope["path"].encode()})

    cached = ResponseCache(app, store)
    for tenant in ("a", "b"):
        path = f"/tenants/{tenant} ü/page"
        got = await ask_asgi(cached, Asked(target="/page", extra={"path": path}))
        assert (got.body, got.cache_status) == (path.encode(), "fwd=miss; stored")
    # What the key does not stand for is not seen.
    assert [raw for _, raw in seen] == [None, None]
    assert await store.has('"http://test.example/tenants/a%20%C3%BC/page"')


async def test_another_mount_is_another_answer(store: AsyncCache) -> None:
    """A client that can say where the application is mounted does not put its answers under others'
    URLs."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": scope["root_path"].encode()})

    cached = ResponseCache(app, store)
    for mount in ("/a", "", "/a b"):
        got = await ask_asgi(cached, Asked(target="/a/b", extra={"root_path": mount}))
        assert (got.body, got.cache_status) == (mount.encode(), "fwd=miss; stored")
    assert await store.has('"http://test.example/a/b#/a%20b"')


async def test_a_request_of_no_host_or_of_two_passes(store: AsyncCache) -> None:
    app = App(lambda fields: (PAGE, "page"))
    app.go.set()
    cached = ResponseCache(app, store)
    for host in (None, "", "a, b", "a b", "a/../b", "a@b", "a?b", "[::1", "a:b", "ü"):
        got = await ask_asgi(cached, Asked(host=host))
        assert got.cache_status == "fwd=bypass; detail=key", host
    scope = scope_of(Asked())
    scope["headers"] = [(b"host", b"a.example"), (b"host", b"b.example")]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await cached(scope, fails, send)
    assert (b"cache-status", b"polycache; fwd=bypass; detail=key") in sent[0]["headers"]
    for host in ("[::1]:8000", "shop.example."):
        assert (await ask_asgi(cached, Asked(host=host))).cache_status == "fwd=miss; stored"


async def test_lines_of_one_name_are_one(store: AsyncCache) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["headers"])
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": b"page"})

    cached = ResponseCache(app, store, vary=["X-A", "cookie", "x-b"])
    lines = [(b"host", b"a.example"), (b"x-a", b'\xe9"'), (b"cookie", b"a=1")]
    lines += [(b"X-A", b"2"), (b"cookie", b"b=2")]
    await ask_asgi(cached, Asked(extra={"headers": lines}))
    # What the application sees is what the key says.
    assert seen == [[(b"cookie", b"a=1; b=2"), (b"host", b"a.example"), (b"x-a", b'\xe9", 2')]]
    assert await store.has('"http://a.example/""a=1; b=2""é\\", 2"-')


async def test_a_key_of_your_own(store: AsyncCache) -> None:
    numbers = iter("0123456789")
    app = App(lambda fields: (PAGE, next(numbers)))
    app.go.set()

    def key(scope: Any) -> str | None:
        return None if scope["path"] == "/live" else str(scope["path"])

    cached = ResponseCache(app, store, key=key)
    got = [
        (await ask_asgi(cached, Asked(target=target))).body
        for target in ("/a?x=1", "/a?x=2", "/live", "/live")
    ]
    assert got == [b"0", b"0", b"1", b"2"]


def streaming(chunks: list[bytes], headers: dict[str, str], log: list[str]) -> Any:
    """Sends chunks one by one, and says how it ended."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await send(start(200, headers))
            for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                log.append("chunk")
            await send({"type": "http.response.body", "body": b""})
            log.append("behind")
        except asyncio.CancelledError:
            log.append("stopped")
            raise

    return app


async def test_a_stream_that_is_not_stored_passes_as_it_comes(store: AsyncCache) -> None:
    log: list[str] = []
    cached = ResponseCache(streaming([b"a", b"b"], PRIVATE, log), store)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body"))
        log.append("sent")

    await cached(scope_of(Asked()), fails, send)
    await turn()
    assert sent == [None, b"a", b"b", b""]
    # Where it says that it is private it is stopped, and what it does behind its answer it does
    # once.
    assert log.count("stopped") == 1
    log.remove("stopped")
    assert log == ["sent", "sent", "chunk", "sent", "chunk", "sent", "behind"]


async def test_a_body_within_the_limit_is_stored_and_a_larger_one_passes(store: AsyncCache) -> None:
    for limit, statuses, asked in (
        (49_999, ["fwd=bypass; detail=too-large"] * 2, 3),
        (50_000, ["fwd=miss; stored", "hit"], 1),
        ("50kB", ["hit", "hit"], 0),
    ):
        if limit == 50_000:
            await store.clear()
        log: list[str] = []
        app = streaming([bytes([65 + at % 26]) * 1000 for at in range(50)], PAGE, log)
        cached = ResponseCache(app, store, max_body=limit)
        for status in statuses:
            got = await ask_asgi(cached, Asked())
            assert (len(got.body), got.body[-1], got.cache_status) == (50_000, 65 + 49 % 26, status)
        await turn()
        assert log.count("behind") + log.count("stopped") == asked


async def test_an_endless_body_is_read_to_the_limit(store: AsyncCache) -> None:
    made = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal made
        await send(start(200, PAGE))
        is_seen_by_all = scope["client"] is None
        while is_seen_by_all:
            made += 1
            await send({"type": "http.response.body", "body": b"x" * 1000, "more_body": True})
        await send({"type": "http.response.body", "body": b"end"})

    cached = ResponseCache(app, store, max_body=10_000)
    got = await ask_asgi(cached, Asked())
    assert (got.body, got.cache_status) == (b"end", "fwd=bypass; detail=too-large")
    await turn()
    assert made == 11


async def broken(scope: Any, receive: Any, send: Any) -> None:
    await send(start(200, PAGE))
    await send({"type": "http.response.body", "body": b"ab", "more_body": True})
    raise ConnectionError("lost")


async def half(scope: Any, receive: Any, send: Any) -> None:
    await send(start(200, PAGE))
    await send({"type": "http.response.body", "body": b"ab", "more_body": True})


async def short(scope: Any, receive: Any, send: Any) -> None:
    await send(start(200, {**PAGE, "content-length": "5"}))
    await send({"type": "http.response.body", "body": b"abc"})


async def trailers(scope: Any, receive: Any, send: Any) -> None:
    await send({**start(200, PAGE), "trailers": True})
    await send({"type": "http.response.body", "body": b"abc"})
    await send({"type": "http.response.trailers", "headers": [(b"x-sum", b"1")]})


async def cancelled(scope: Any, receive: Any, send: Any) -> None:
    await send(start(200, PAGE))
    if scope["client"] is None:
        raise asyncio.CancelledError
    await send({"type": "http.response.body", "body": b"abc"})


async def twice(scope: Any, receive: Any, send: Any) -> None:
    await send(start(200, PAGE))
    if scope["client"] is None:
        await send(start(200, {}))
    await send({"type": "http.response.body", "body": b"abc"})


async def smuggled(scope: Any, receive: Any, send: Any) -> None:
    await send(start(200, {**PAGE, "x-a": "1\r\nset-cookie: a=1"}))
    await send({"type": "http.response.body", "body": b"abc"})


@pytest.mark.parametrize(
    ("app", "why"),
    [
        *((broken, "failed"), (half, "failed"), (short, "failed"), (cancelled, "failed")),
        *((trailers, "trailers"), (smuggled, "failed"), (twice, "failed")),
    ],
)
async def test_an_answer_that_is_not_whole_is_not_stored(
    store: AsyncCache, app: Any, why: str
) -> None:
    cached = ResponseCache(app, store)
    for _ in range(2):
        sent: list[Any] = []

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        if app is broken:
            with pytest.raises(ConnectionError, match="lost"):
                await cached(scope_of(Asked()), fails, send)
        else:
            await cached(scope_of(Asked()), fails, send)
        field = (b"cache-status", f"polycache; fwd=bypass; detail={why}".encode())
        assert field in sent[0]["headers"]
        # The server gets what the application sent, to the last message.
        assert [message["type"] for message in sent[1:]][:1] == ["http.response.body"]
    assert (await store.get('"http://test.example/"'))["pass"] == why


async def test_an_answer_is_given_before_the_application_is_done(store: AsyncCache) -> None:
    log: list[str] = []
    errors: list[Exception] = []
    go = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": b"page"})
        assert (await receive())["type"] == "http.request"
        assert (await receive())["type"] == "http.disconnect"
        await go.wait()
        log.append("done")
        raise LookupError("behind the answer")

    cached = ResponseCache(app, store, on_error=errors.append)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asking = asyncio.ensure_future(cached(scope_of(Asked()), fails, send))
    while len(sent) < 2:
        await asyncio.sleep(0)
    assert (await ask_asgi(cached, Asked())).cache_status == "hit"
    assert not log and not asking.done()
    go.set()
    await asking
    assert log == ["done"]
    assert [str(error) for error in errors] == ["behind the answer"]


@pytest.mark.parametrize("leaves", [False, True])
async def test_an_application_that_listens_ends_itself(store: AsyncCache, leaves: bool) -> None:
    """As Django's does, which leaves tasks behind if it is cancelled."""
    log: list[str] = []
    waits = asyncio.Event()

    async def answer(send: Any) -> None:
        try:
            if leaves:
                waits.set()
                await asyncio.Event().wait()
            await send(start(200, PRIVATE))
            await send({"type": "http.response.body", "body": b"page"})
            log.append("answered")
        except asyncio.CancelledError:
            log.append("stopped")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["client"] is not None:
            await answer(send)
            return
        await receive()
        listening = asyncio.ensure_future(receive())
        answering = asyncio.ensure_future(answer(send))
        await asyncio.wait((listening, answering), return_when=asyncio.FIRST_COMPLETED)
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        log.append(listening.result()["type"])

    cached = ResponseCache(app, store)
    asking = asyncio.ensure_future(ask_asgi(cached, Asked()))
    if leaves:
        await waits.wait()
        asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await turn()
    assert sorted(log) == sorted(["stopped", "http.disconnect"] + ["answered"] * (not leaves))


async def test_what_is_refused_is_done_once(store: AsyncCache) -> None:
    done: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = {"cache-control": "max-age=60", "set-cookie": "a=1"}
        await send(start(200, headers))
        await send({"type": "http.response.body", "body": b"page"})
        done.append("a mail is sent")

    cached = ResponseCache(app, store)
    await ask_asgi(cached, Asked())
    await turn()
    assert done == ["a mail is sent"]


async def test_an_error_behind_a_stale_answer_is_told(store: AsyncCache) -> None:
    """As Starlette's outermost middleware has it: an answer 500, and then the error."""
    now = 1_000_000.0
    works = True

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start(200 if works else 500, PAGE))
        await send({"type": "http.response.body", "body": b"page"})
        if not works:
            raise LookupError("the application's own")

    errors: list[Exception] = []
    cached = ResponseCache(
        app, store, stale_if_error="1h", on_error=errors.append, clock=lambda: now
    )
    assert (await ask_asgi(cached, Asked())).status == 200
    works = False
    now += 100_000
    got = await ask_asgi(cached, Asked())
    assert (got.status, got.cache_status) == (200, "hit; detail=stale-if-error")
    assert [str(error) for error in errors] == ["the application's own"]


async def test_behind_stale_answers_one_caller_asks(store: AsyncCache) -> None:
    now = 1_000_000.0
    app = App(lambda fields: ({"cache-control": "max-age=1, stale-while-revalidate=60"}, "page"))
    app.go.set()
    cached = ResponseCache(app, store, clock=lambda: now)
    other = ResponseCache(app, store, clock=lambda: now)
    assert (await ask_asgi(cached, Asked())).cache_status == "fwd=miss; stored"
    app.go.clear()
    now += 2000
    first = asyncio.ensure_future(ask_asgi(cached, Asked()))
    await is_asked(app, 2)
    for one in (cached, other, cached):
        got = await ask_asgi(one, Asked())
        assert got.cache_status == "hit; detail=stale-while-revalidate"
    assert app.asked == 2
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    # Who left gave the lease back; the next one asks.
    app.go.set()
    await ask_asgi(cached, Asked())
    assert app.asked == 3
    assert (await ask_asgi(other, Asked())).cache_status == "hit"


@pytest.mark.parametrize(
    "forged",
    [
        "text",
        {"status": 200, "body": b"forged"},
        {"pass": 5, "until": 1},
        {"pass": "a\r\nb", "until": 2**53},
        {"status": 200, "fields": [["x\n", "y"]], "body": b"", "etag": '"a"'},
        {"status": 200, "fields": [["x", "y\r\nset-cookie: a=1"]], "body": b"", "etag": '"a"'},
        {"status": 200, "fields": ["xy"], "body": b"", "etag": '"a"'},
        {"status": 200, "fields": [], "body": "text", "etag": '"a"'},
        {"status": 101, "fields": [], "body": b"", "etag": '"a"'},
        {"status": True, "fields": [], "body": b"", "etag": '"a"'},
        {"status": 200, "fields": [], "body": b"", "etag": "bare"},
    ],
)
async def test_what_others_wrote_is_no_answer(store: AsyncCache, forged: Any) -> None:
    times = dict.fromkeys(("made", "freshUntil", "revalidateUntil", "errorUntil"), 2**52)
    value = {**times, **forged} if "status" in forged else forged
    app = App(lambda fields: (PAGE, "page"))
    app.go.set()
    cached = ResponseCache(app, store)
    await store.set('"http://test.example/"', value)
    got = await ask_asgi(cached, Asked())
    assert (got.body, got.cache_status) == (b"page", "fwd=bypass; detail=foreign")
    assert await store.get('"http://test.example/"') == value


async def test_each_variant_is_compressed_once(
    store: AsyncCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(lambda fields: (PAGE, "page " * 1000))
    app.go.set()
    cached = ResponseCache(app, store)
    accepts = {"accept-encoding": "gzip"}
    threads = [0]
    beside = asyncio.to_thread

    def counted(*call: Any) -> Any:
        threads[0] += 1
        return beside(*call)

    monkeypatch.setattr(asyncio, "to_thread", counted)
    got: list[Got] = [await ask_asgi(cached, Asked(headers=accepts)) for _ in range(3)]
    assert threads == [1]
    assert {gzip.decompress(one.body) for one in got} == {b"page " * 1000}
    etag = got[0].headers["etag"]
    same = await ask_asgi(cached, Asked(headers={**accepts, "if-none-match": etag}))
    assert (same.status, same.body) == (304, b"")
    assert {one.headers["etag"] for one in got} == {etag}


async def test_a_websocket_is_none_of_its_business(store: AsyncCache) -> None:
    scopes: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope)

    scope = {"type": "websocket", "path": "/"}
    await ResponseCache(app, store)(scope, fails, fails)
    assert scopes == [scope]


async def test_a_page_that_asks_for_itself_ends(store: AsyncCache) -> None:
    depth = 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal depth
        depth += 1
        inner = b"leaf" if depth > 3 else (await ask_asgi(cached, Asked())).body
        await send(start(200, PAGE))
        await send({"type": "http.response.body", "body": inner})

    cached = ResponseCache(app, store)
    async with asyncio.timeout(LIMIT / 2):
        assert (await ask_asgi(cached, Asked())).body == b"leaf"


@pytest.mark.parametrize(
    "options",
    [
        *({"colour": "red"}, {"vary": ["a b"]}, {"vary": "cookie"}, {"covered": [5]}),
        *({"ttl": "soon"}, {"stale_if_error": -1}, {"max_body": -1}, {"max_body": "1 MiB"}),
        *({"max_body": True}, {"max_body": "1XB"}, {"codings": ["lzma"]}, {"key": "path"}),
        *({"on_error": 5}, {"clock": 5}, {"compress_from": -1}, {"extensions": "user"}),
    ],
)
async def test_refuses_options_that_are_none(store: AsyncCache, options: Any) -> None:
    with pytest.raises(InvalidArgument):
        ResponseCache(broken, store, **options)
    ResponseCache(broken, store, **dict.fromkeys(set(options) - {"colour"}))


async def test_takes_a_cache_and_an_application(cache: Cache) -> None:
    for app, wrong in ((broken, {}), (None, cache), (cache, broken)):
        with pytest.raises(InvalidArgument, match="an application and an AsyncCache"):
            ResponseCache(app, wrong)  # type: ignore[arg-type]
    app = App(lambda fields: (PAGE, "page"))
    app.go.set()
    cached = ResponseCache(app, cache)
    for status in ("fwd=miss; stored", "hit"):
        assert (await ask_asgi(cached, Asked())).cache_status == status
