"""A response cache before an application of WSGI: threads at once, what the application may see,
bodies that are not whole, and processes that share one cache."""

import threading
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from helpers import answer, python, tell, together, until
from response_caches import Asked, Got, ask_wsgi, environ_of

from polycache import AsyncCache, Cache, InvalidArgument
from polycache.http.wsgi import ResponseCache

PAGE = [("Cache-Control", "max-age=60"), ("Content-Type", "text/plain")]
ENVIRON = environ_of(Asked())


def said(control: str) -> list[tuple[str, str]]:
    return [("Cache-Control", control)]


class App:
    """Waits until it may go on, and says for whom its answer is."""

    def __init__(self, headers: list[tuple[str, str]]) -> None:
        self.headers = headers
        self.go = threading.Event()
        self.asked = 0
        self._lock = threading.Lock()

    def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
        with self._lock:
            self.asked += 1
        assert self.go.wait(60)
        start_response("200 OK", self.headers)
        return [b"for ", environ.get("HTTP_X_USER", "-").encode()]


def at_once(cached: Any, app: App, callers: int) -> list[Got]:
    """The answers of callers who all ask before the application goes on."""
    reached = [0]

    def ask(number: int) -> Got:
        reached[0] += 1
        return ask_wsgi(cached, Asked(headers={"x-user": f"u{number}"}))

    def release() -> Any:
        until(lambda: app.asked > 0 and reached[0] == callers)
        app.go.set()

    calls = [lambda number=number: ask(number) for number in range(callers)]
    return together(*calls, release)[:callers]


def test_many_threads_at_once_ask_the_application_once(cache: Cache) -> None:
    app = App(PAGE)
    got = at_once(ResponseCache(app, cache), app, 50)
    assert {one.body for one in got} == {b"for -"}
    assert app.asked == 1


def test_who_waited_for_a_private_answer_gets_an_own_one(cache: Cache) -> None:
    app = App(said("private"))
    got = at_once(ResponseCache(app, cache), app, 20)
    assert [one.body for one in got] == [f"for u{number}".encode() for number in range(20)]


@pytest.mark.parametrize("vary", [[], ["accept-language"]])
def test_a_post_ends_a_load_under_way(cache: Cache, vary: list[str]) -> None:
    version, asked, go = [1], threading.Event(), threading.Event()

    def app(environ: Any, start_response: Any) -> Iterator[bytes]:
        if environ["REQUEST_METHOD"] == "POST":
            version[0] += 1
            start_response("204 No Content", [])
            return iter(())
        read = version[0]
        asked.set()
        assert go.wait(60)
        start_response("200 OK", PAGE)
        return iter([str(read).encode()])

    cached = ResponseCache(app, cache, vary=vary)
    german = Asked(headers={"accept-language": "de"})

    def post() -> Got:
        assert asked.wait(60)
        done = ask_wsgi(cached, Asked("POST"))
        go.set()
        return done

    before, _ = together(lambda: ask_wsgi(cached, german), post)
    assert before.body == b"1"
    after = ask_wsgi(cached, german)
    assert (after.body, after.cache_status) == (b"2", "fwd=miss; stored")


def test_the_application_sees_only_what_is_in_the_key(cache: Cache) -> None:
    secret: ContextVar[str] = ContextVar("secret")
    seen: list[Any] = []

    def app(environ: Any, start_response: Any) -> list[bytes]:
        seen.append({**environ, "secret": secret.get("-")})
        start_response("200 OK", PAGE)
        return [b"page"]

    cached = ResponseCache(app, cache, vary=["content-type"], extensions=["app.tenant"])
    secret.set("of ada")
    extra = {
        **{"REMOTE_USER": "ada", "CONTENT_TYPE": "a/b", "app.tenant": "t", "QUERY_STRING": "c=1"},
        **{"SSL_CLIENT_S_DN": "ada", "RAW_URI": "/a%2fb?c=1"},
    }
    got = ask_wsgi(cached, Asked(target="/a/b", headers={"x-user": "ada"}, extra=extra))
    assert got.cache_status == "fwd=miss; stored"
    (environ,) = seen
    assert environ.pop("wsgi.input").read() == b""
    assert environ == {
        **{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": "/a/b"},
        **{"QUERY_STRING": "c=1", "SERVER_NAME": "test.example", "SERVER_PORT": "80"},
        **{"SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": "http", "app.tenant": "t"},
        **{"HTTP_HOST": "test.example", "CONTENT_TYPE": "a/b", "secret": "-"},
    }
    assert list(cache.keys()) == ['"http://test.example/a%2fb?c=1""a/b"']


def test_a_path_that_was_rewritten_is_another_one(cache: Cache) -> None:
    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", PAGE)
        return [environ["PATH_INFO"].encode("latin-1")]

    cached = ResponseCache(app, cache)
    for path in ("/a", "/b"):
        got = ask_wsgi(cached, Asked(target="/page", extra={"PATH_INFO": path}))
        assert (got.body, got.cache_status) == (path.encode(), "fwd=miss; stored")


def test_another_mount_is_another_answer(cache: Cache) -> None:
    """A client that can say where the application is mounted does not put its answers under others'
    URLs."""

    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", PAGE)
        return [f"{environ['SCRIPT_NAME']} and {environ['PATH_INFO']}".encode()]

    cached = ResponseCache(app, cache)
    extra: list[dict[str, Any]] = [
        {"SCRIPT_NAME": "/a", "PATH_INFO": "/b", "RAW_URI": "/b", "SERVER_PORT": "443"},
        {"SCRIPT_NAME": "", "PATH_INFO": "/a/b", "RAW_URI": "/a/b"},
    ]
    for one, body in zip(extra, (b"/a and /b", b" and /a/b"), strict=True):
        got = ask_wsgi(cached, Asked(extra=one))
        assert (got.body, got.cache_status) == (body, "fwd=miss; stored")
    keys = ['"http://test.example/a/b"', '"http://test.example/a/b#/a"']
    assert sorted(map(str, cache.keys())) == keys


class Body:
    """Pieces, and whether it was closed."""

    def __init__(self, pieces: list[Any]) -> None:
        self._pieces = pieces
        self.closed = 0
        self.taken = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, Exception):
                raise piece
            self.taken += 1
            yield piece

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("headers", "pieces", "why", "taken"),
    [
        (PAGE, [b"ab", b"cd"], None, 2),
        (said("private"), [b"ab", b"cd"], "private", 1),
        (PAGE, [b"x" * 600] * 10, "too-large", 2),
        (PAGE, [b"ab", ConnectionError("lost")], "failed", 1),
        ([*PAGE, ("Content-Length", "5")], [b"abc"], "failed", 1),
    ],
)
def test_bodies(cache: Cache, headers: Any, pieces: Any, why: str | None, taken: int) -> None:
    bodies: list[Body] = []

    def app(environ: Any, start_response: Any) -> Body:
        start_response("200 OK", headers)
        bodies.append(Body(pieces))
        return bodies[-1]

    cached = ResponseCache(app, cache, max_body="1KiB")
    if isinstance(pieces[-1], Exception):
        with pytest.raises(ConnectionError):
            ask_wsgi(cached, Asked())
    else:
        got = ask_wsgi(cached, Asked())
        assert got.body == b"".join(pieces)
        expected = "fwd=miss; stored" if why is None else f"fwd=bypass; detail={why}"
        assert got.cache_status == expected
    assert bodies[0].taken == taken
    assert [body.closed for body in bodies] == [1] * len(bodies)
    assert len(bodies) == (1 if why is None else 2)


def test_a_body_that_is_written_is_one(cache: Cache) -> None:
    def app(environ: Any, start_response: Any) -> list[bytes]:
        write = start_response("299 Odd", PAGE)
        write(b"written, ")
        return [b"then returned"]

    for status in ("fwd=miss; stored", "hit"):
        got = ask_wsgi(ResponseCache(app, cache), Asked())
        assert (got.status, got.body) == (299, b"written, then returned")
        assert got.cache_status == status


def test_what_nobody_started_is_no_answer(cache: Cache) -> None:
    bodies = list(ResponseCache(lambda environ, start_response: [b"x"], cache)(ENVIRON, print))
    assert bodies == [b"x"]  # The server finds what is wrong, as it would without a cache.
    assert cache.get('"http://test.example/"')["pass"] == "failed"


def test_a_stale_answer_is_fetched_anew_when_the_client_has_it(cache: Cache) -> None:
    now = [1_000_000.0]
    app = App(said("max-age=1, stale-while-revalidate=60"))
    app.go.set()
    cached = ResponseCache(app, cache, clock=lambda: now[0])
    ask_wsgi(cached, Asked())
    now[0] += 2000
    told: list[Any] = []
    body = cached(ENVIRON, lambda *begun: told.append(begun))
    assert list(body) == [b"for -"]
    assert app.asked == 1
    body.close()  # type: ignore[attr-defined]
    assert app.asked == 2
    assert ask_wsgi(cached, Asked()).cache_status == "hit"


def test_where_the_cache_fails_the_application_answers(cache: Cache) -> None:
    app = App(PAGE)
    app.go.set()
    errors: list[Exception] = []
    cached = ResponseCache(app, cache, on_error=errors.append)
    cache.close()
    for method in ("GET", "POST"):
        got = ask_wsgi(cached, Asked(method, headers={"x-user": "ada"}))
        assert got.body == b"for ada"
    assert [type(error).__name__ for error in errors] == ["Closed", "Closed"]


def test_refuses_options_that_are_none(cache: Cache) -> None:
    with pytest.raises(InvalidArgument, match="no option colour"):
        ResponseCache(App(PAGE), cache, colour="red")  # type: ignore[call-arg]
    with pytest.raises(InvalidArgument, match="an application and a Cache"):
        ResponseCache(App(PAGE), AsyncCache.over(cache))  # type: ignore[arg-type]


PROCESS = """
import sys
from polycache import Cache
from polycache.http.wsgi import ResponseCache
sys.path.insert(0, sys.argv[1])
from response_caches import Asked, ask_wsgi

def app(environ, start_response):
    with open(sys.argv[3], "a") as file:
        file.write("asked\\n")
    print("loads", flush=True)
    sys.stdin.readline()
    start_response("200 OK", [("Cache-Control", "max-age=60")])
    return [b"page"]

with Cache(sys.argv[2], limit="4MiB") as cache:
    cached = ResponseCache(app, cache)
    print("ready", flush=True)
    sys.stdin.readline()
    got = ask_wsgi(cached, Asked())
    print(got.body.decode(), got.cache_status, flush=True)
"""


def test_of_many_processes_one_asks_the_application(tmp_path: Path) -> None:
    log = tmp_path / "log"
    arguments = (Path(__file__).parent, tmp_path / "cache", log)
    with python(PROCESS, *arguments) as one, python(PROCESS, *arguments) as other:
        for process in (one, other):
            assert answer(process) == "ready"
        tell(one)
        assert answer(one) == "loads"
        tell(other)
        tell(one)
        assert answer(one) == "page fwd=miss; stored"
        assert answer(other) in ("page hit; collapsed", "page hit")
    assert log.read_text() == "asked\n"


def test_the_next_process_asks_when_one_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    arguments = (Path(__file__).parent, tmp_path / "cache", log)
    with python(PROCESS, *arguments) as one, python(PROCESS, *arguments) as other:
        for process in (one, other):
            assert answer(process) == "ready"
        tell(one)
        assert answer(one) == "loads"
        tell(other)
        one.kill()
        assert answer(other) == "loads"
        tell(other)
        assert answer(other) == "page fwd=miss; stored"
