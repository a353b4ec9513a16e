"""Representations served by the frameworks themselves."""

import gzip
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from polycache.http import Policy, Representation
from polycache.http.wsgi import respond as respond_wsgi

PAGE = Representation(b'["' + b"x" * 3000 + b'"]')
POLICY = Policy(cache_control="max-age=5", headers={"x-own": "1"})


async def test_starlette_and_fastapi() -> None:
    applications = pytest.importorskip("starlette.applications")
    fastapi = pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    routing = pytest.importorskip("starlette.routing")

    from polycache.http.starlette import RepresentationResponse

    async def page(request: Any) -> Any:
        return RepresentationResponse(PAGE, POLICY)

    api = fastapi.FastAPI()

    @api.api_route("/", methods=["GET", "HEAD"])  # type: ignore[untyped-decorator, unused-ignore]
    async def whole() -> Any:
        made = RepresentationResponse(PAGE.within("value", {"n": 1}, incidental=True), POLICY)
        made.set_cookie("c", "1")
        return made

    starlette = applications.Starlette(routes=[routing.Route("/", page)])
    for application, content in (
        (starlette, PAGE.bytes),
        (api, PAGE.within("value", {"n": 1}).bytes),
    ):
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            plain = await client.get("/", headers={"accept-encoding": "identity"})
            assert (plain.status_code, plain.content) == (200, content)
            assert plain.headers["cache-control"] == "max-age=5"
            assert plain.headers["x-own"] == "1"
            assert ("set-cookie" in plain.headers) == (application is api)
            assert plain.headers.get_list("content-type") == ["application/json"]
            packed = await client.get("/", headers={"accept-encoding": "gzip"})
            assert packed.headers["content-encoding"] == "gzip"
            assert packed.content == content
            asked = {"if-none-match": packed.headers["etag"], "accept-encoding": "gzip"}
            same = await client.get("/", headers=asked)
            assert (same.status_code, same.content) == (304, b"")
            assert "content-type" not in same.headers
            head = await client.head("/", headers={"accept-encoding": "identity"})
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-length"] == str(len(content))


async def test_what_a_route_says_of_vary_stays() -> None:
    pytest.importorskip("starlette")
    from polycache.http.starlette import RepresentationResponse

    for fields, expected in (
        (["Cookie"], "Cookie, accept-encoding"),
        (["Cookie", "Origin, ,cookie"], "Cookie, Origin, accept-encoding"),
        (["Accept-Encoding"], "Accept-Encoding"),
        (["*"], "*"),
        ([], "accept-encoding"),
    ):
        response = RepresentationResponse(PAGE, Policy(headers={"set-cookie": "a=1"}))
        response.headers["cache-control"] = "public"
        response.headers["set-cookie"] = "b=1"
        for field in fields:
            response.headers.append("Vary", field)
        sent = AsyncMock()
        await response({"method": "GET", "headers": []}, None, sent)
        told: dict[bytes, list[bytes]] = {}
        for name, text in sent.await_args_list[0].args[0]["headers"]:
            told.setdefault(name, []).append(text)
        assert told[b"vary"] == [expected.encode()]
        assert told[b"cache-control"] == [b"no-cache"]
        assert told[b"set-cookie"] == [b"a=1", b"b=1"]


async def test_only_what_is_compressed_takes_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    concurrency = pytest.importorskip("starlette.concurrency")
    from polycache.http.starlette import RepresentationResponse

    page = Representation(b'["' + b"x" * 3000 + b'"]')
    response = RepresentationResponse(page.within("value", {"n": 1}, incidental=True))
    # Starlette's own, which runs on whatever the application does.
    threads = Mock(wraps=concurrency.run_in_threadpool)
    monkeypatch.setattr("polycache.http.starlette.run_in_threadpool", threads)

    async def status(**fields: str) -> int:
        named = [(name.replace("_", "-").encode(), text.encode()) for name, text in fields.items()]
        sent = AsyncMock()
        await response({"method": "GET", "headers": named}, None, sent)
        return int(sent.await_args_list[0].args[0]["status"])

    assert await status(accept_encoding="gzip", if_none_match=page.etag) == 304
    assert await status(accept_encoding="gzip", if_match='"another"') == 412
    assert await status() == 200
    threads.assert_not_called()
    assert await status(accept_encoding="gzip", if_none_match='"another"') == 200
    assert await status(accept_encoding="gzip") == 200
    threads.assert_called_once()


def test_starlette_on_trio() -> None:
    trio = pytest.importorskip("trio")
    pytest.importorskip("starlette")
    from polycache.http.starlette import RepresentationResponse

    # Its variant is not made yet.
    page = Representation(PAGE.bytes)
    sent = AsyncMock()

    async def answer() -> None:
        fields = [(b"accept-encoding", b"gzip")]
        await RepresentationResponse(page)({"method": "GET", "headers": fields}, None, sent)

    trio.run(answer)
    begins, body = (one.args[0] for one in sent.await_args_list)
    assert begins["status"] == 200
    assert gzip.decompress(body["body"]) == PAGE.bytes


async def test_django() -> None:
    django = pytest.importorskip("django")

    settings = pytest.importorskip("django.conf").settings
    client = pytest.importorskip("django.test")
    path = pytest.importorskip("django.urls").path
    from polycache.http.django import respond

    def page(request: Any) -> Any:
        return respond(request, PAGE, POLICY)

    async def later(request: Any) -> Any:
        return respond(request, PAGE, POLICY)

    if not settings.configured:
        settings.configure(ALLOWED_HOSTS=["*"], SECRET_KEY="tests", MIDDLEWARE=[])
        django.setup()

    class Urls:
        urlpatterns = [path("", page), path("later", later)]  # noqa: RUF012

    with client.override_settings(ROOT_URLCONF=Urls, ALLOWED_HOSTS=["*"], MIDDLEWARE=[]):
        plain = client.Client().get("/")
        assert (plain.status_code, plain.content) == (200, PAGE.bytes)
        assert plain["content-type"] == "application/json"
        packed = client.Client().get("/", headers={"accept-encoding": "gzip"})
        assert gzip.decompress(packed.content) == PAGE.bytes
        same = client.Client().get("/", headers={"if-none-match": PAGE.etag})
        assert (same.status_code, same.content) == (304, b"")
        assert client.Client().post("/").status_code == 405
        assert (await client.AsyncClient().get("/later")).content == PAGE.bytes


def test_wsgi() -> None:
    told: list[Any] = []

    def start(status: str, headers: list[tuple[str, str]]) -> None:
        told.append((status, dict(headers)))

    environ = {"REQUEST_METHOD": "GET", "HTTP_IF_NONE_MATCH": PAGE.etag}
    assert b"".join(respond_wsgi(environ, start, PAGE, POLICY)) == b""
    assert b"".join(respond_wsgi({"REQUEST_METHOD": "GET"}, start, PAGE)) == PAGE.bytes
    assert [status for status, _ in told] == ["304 Not Modified", "200 OK"]
    assert told[1][1]["etag"] == PAGE.etag
