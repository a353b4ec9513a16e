"""A response cache before the frameworks themselves."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from response_caches import Asked, ask_asgi, ask_wsgi

from polycache import AsyncCache, Cache
from polycache.http.asgi import ResponseCache as AsgiCache
from polycache.http.wsgi import ResponseCache as WsgiCache


async def test_fastapi(cache: Cache) -> None:
    pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    from fastapi import (  # type: ignore[import-not-found, unused-ignore]
        BackgroundTasks,
        FastAPI,
        Request,
        Response,
    )

    responses = pytest.importorskip("starlette.responses")
    cors = pytest.importorskip("starlette.middleware.cors").CORSMiddleware
    sessions = pytest.importorskip("starlette.middleware.base").BaseHTTPMiddleware
    asked: list[str] = []
    mails: list[str] = []

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
        yield {"greeting": "hello"}

    app = FastAPI(lifespan=lifespan)

    def read(request: Request, response: Response, number: int) -> dict[str, Any]:
        asked.append(request.url.path)
        response.headers["cache-control"] = "max-age=60"
        user = getattr(request.state, "user", "-")
        return {"number": number, "greeting": request.state.greeting, "user": user}

    async def mine(request: Request, response: Response, mails_: BackgroundTasks) -> dict[str, Any]:
        response.headers["cache-control"] = "private"
        mails_.add_task(mails.append, request.state.user)
        return {"user": request.state.user}

    async def stream() -> Any:
        async def chunks() -> AsyncIterator[str]:
            for at in range(5):
                yield str(at)

        return responses.StreamingResponse(chunks(), headers={"cache-control": "max-age=60"})

    async def fails() -> None:
        raise LookupError("the application's own")

    async def write(number: int) -> dict[str, Any]:
        return {"number": number}

    app.add_api_route("/things/{number}", read)
    app.add_api_route("/things/{number}", write, methods=["PUT"])
    app.add_api_route("/mine", mine)
    app.add_api_route("/stream", stream)
    app.add_api_route("/fails", fails)

    async def knows_the_user(request: Any, call_next: Any) -> Any:
        request.state.user = request.headers.get("x-user", "-")
        return await call_next(request)

    store = AsyncCache.over(cache)
    app.add_middleware(AsgiCache, cache=store)
    app.add_middleware(sessions, dispatch=knows_the_user)
    app.add_middleware(cors, allow_origins=["https://a.example"])

    started: dict[str, Any] = {"type": "lifespan", "state": {}}
    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    told: list[Any] = []

    async def receive() -> Any:
        message = next(messages)
        if message["type"] == "lifespan.shutdown":
            await check()
        return message

    async def send(message: Any) -> None:
        told.append(message)

    async def check() -> None:
        # As servers do: each request has a copy of what the lifespan left.
        async def serve(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "state": dict(started["state"])}, receive, send)

        transport = httpx.ASGITransport(app=serve)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            for user, status in (("ada", "fwd=miss; stored"), ("bob", "hit")):
                headers = {"x-user": user, "origin": "https://a.example"}
                got = await client.get("/things/5", headers=headers)
                assert got.json() == {"number": 5, "greeting": "hello", "user": "-"}
                assert got.headers["cache-status"] == f"polycache; {status}"
                assert got.headers["access-control-allow-origin"] == "https://a.example"
            assert (await client.head("/things/5")).headers["content-type"] == "application/json"
            same = await client.get("/things/5", headers={"if-none-match": got.headers["etag"]})
            assert (same.status_code, same.content) == (304, b"")
            assert asked == ["/things/5"]
            await client.put("/things/5")
            assert (await client.get("/things/5")).headers["cache-status"].endswith("stored")
            for user in ("ada", "bob"):
                got = await client.get("/mine", headers={"x-user": user})
                assert got.json() == {"user": user}
            assert mails == ["ada", "bob"]
            for status in ("fwd=miss; stored", "hit"):
                streamed = await client.get("/stream")
                assert (streamed.text, streamed.headers["cache-status"][11:]) == ("01234", status)
            with pytest.raises(LookupError, match="own"):
                await client.get("/fails")
            assert (await client.get("/nowhere")).status_code == 404

    await app(started, receive, send)
    assert [message["type"] for message in told] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


async def test_a_route_of_starlette(cache: Cache) -> None:
    starlette = pytest.importorskip("starlette.applications").Starlette
    middleware = pytest.importorskip("starlette.middleware").Middleware
    response = pytest.importorskip("starlette.responses").PlainTextResponse
    routing = pytest.importorskip("starlette.routing")
    asked: list[Any] = []

    async def page(request: Any) -> Any:
        asked.append(request.path_params)
        return response(f"page {request.path_params['name']}")

    layer = middleware(AsgiCache, cache=AsyncCache.over(cache), ttl="1m")
    route = routing.Route("/pages/{name}", page, middleware=[layer])
    app = starlette(routes=[routing.Mount("/site", routes=[route])])
    for name in ("a", "b", "a"):
        got = await ask_asgi(app, Asked(target=f"/site/pages/{name}"))
        assert got.body == f"page {name}".encode()
    assert asked == [{"name": "a"}, {"name": "b"}]
    assert sorted(str(key) for key in cache.keys())[0] == '"http://test.example/site/pages/a#/site"'  # noqa: SIM118


@pytest.fixture
def django(cache: Cache) -> Iterator[Any]:
    module = pytest.importorskip("django")
    settings = pytest.importorskip("django.conf").settings
    http = pytest.importorskip("django.http")
    test = pytest.importorskip("django.test")
    path = pytest.importorskip("django.urls").path

    def page(request: Any) -> Any:
        said = {"cache-control": "max-age=60"}
        return http.HttpResponse(request.headers.get("x-user", "-"), headers=said)

    def mine(request: Any) -> Any:
        answer = http.HttpResponse(request.headers.get("x-user", "-"))
        answer.set_cookie("sid", "1")
        return answer

    def stream(request: Any) -> Any:
        said = {"cache-control": "max-age=60"}
        return http.StreamingHttpResponse(iter([b"a", b"b"]), headers=said)

    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], SECRET_KEY="tests", MIDDLEWARE=[])
        module.setup()

    class Urls:
        urlpatterns = (path("page", page), path("mine", mine), path("stream", stream))

    with test.override_settings(ROOT_URLCONF=Urls, ALLOWED_HOSTS=["*"], MIDDLEWARE=[]):
        yield cache


CHECKS = [
    ("/page", "ada", b"-", "fwd=miss; stored"),
    ("/page", "bob", b"-", "hit"),
    ("/mine", "ada", b"ada", "fwd=bypass; detail=set-cookie"),
    ("/mine", "bob", b"bob", "fwd=bypass; detail=set-cookie"),
    ("/stream", "ada", b"ab", "fwd=miss; stored"),
    ("/stream", "bob", b"ab", "hit"),
]


def test_django_over_wsgi(django: Cache) -> None:
    from django.core.wsgi import get_wsgi_application  # type: ignore[import-untyped]

    cached = WsgiCache(get_wsgi_application(), django)
    for target, user, body, status in CHECKS:
        got = ask_wsgi(cached, Asked(target=target, headers={"x-user": user}))
        assert (got.body, got.cache_status) == (body, status)


async def test_django_over_asgi(django: Cache) -> None:
    from django.core.asgi import get_asgi_application  # type: ignore[import-untyped]

    cached = AsgiCache(get_asgi_application(), AsyncCache.over(django))
    for target, user, body, status in CHECKS[:4]:
        got = await ask_asgi(cached, Asked(target=target, headers={"x-user": user}))
        assert (got.body, got.cache_status) == (body, status)
