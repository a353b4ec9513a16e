"""The backend for Django beside the real one."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from both import Both, Time, patched

django = pytest.importorskip("django")

from django.conf import settings  # type: ignore[import-untyped]  # noqa: E402

if not settings.configured:
    settings.configure(
        CACHES={"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
    )

import diskcache.djangocache  # type: ignore[import-untyped]  # noqa: E402
from django.utils.safestring import (  # type: ignore[import-untyped]  # noqa: E402
    SafeString,
    mark_safe,
)

import polycache.diskcache as ours  # noqa: E402
from polycache.diskcache.django import DjangoCache  # noqa: E402

SECRET = "a secret of 16 bytes or more"


@pytest.fixture
def pair(tmp_path: Path) -> Both:
    params: dict[str, Any] = {"KEY_PREFIX": "p", "VERSION": 3, "TIMEOUT": 100}
    return Both(
        diskcache.djangocache.DjangoCache(str(tmp_path / "theirs"), params),
        DjangoCache(str(tmp_path / "mine"), {**params, "OPTIONS": {"pickle_secret": SECRET}}),
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    return patched(monkeypatch)


def test_django_s_operations(pair: Both, clock: Time) -> None:
    pair.set("k", {"a": (1,)})
    pair.get("k")
    pair.get("k", expire_time=True)
    pair.get("k", version=4)
    pair.get("none", "default")
    pair.add("k", 1)
    pair.add("j", 1, 5)
    pair.has_key("j")
    pair.ask(lambda one: "j" in one)
    pair.incr("j")
    pair.decr("j", 5)
    pair.incr("missing")
    pair.incr("missing", default=3)
    pair.touch("j", 1000)
    pair.touch("missing2")
    clock.now += 50
    pair.get("j")
    clock.now += 51
    pair.get("k")
    pair.set_many({"a": 1, "b": [2]}, 10)
    pair.get_many(["a", "b", "c"])
    pair.delete_many(["a"])
    pair.get_or_set("c", lambda: 7)
    pair.get_or_set("c", lambda: 8)
    pair.incr_version("c")
    pair.get("c", version=4)
    pair.pop("b", tag=True)
    pair.delete("b")
    for timeout in (0, -1, None, 5):
        pair.set("t", 1, timeout)
        pair.get("t", expire_time=True)
    pair.set("tagged", 1, tag="t")
    pair.evict("t")
    pair.stats()
    pair.clear()
    pair.get("t")
    pair.close()
    pair.get("t")


def test_its_memoize_and_its_folders(pair: Both, clock: Time) -> None:
    def run(cache: Any) -> Any:
        calls: list[int] = []

        @cache.memoize("f", timeout=10, tag="t")  # type: ignore[untyped-decorator]
        def f(number: int) -> int:
            calls.append(number)
            return number

        results = [f(1), f(1), cache.get(f.__cache_key__(1))]
        clock.now += 11
        return [*results, f(1), len(calls)]

    assert run(pair.theirs) == run(pair.mine)
    mine = pair.mine
    mine.cache("c")["k"] = 1
    mine.deque("d", maxlen=2).extend([1, 2, 3])
    mine.index("i")["k"] = (1, 2)
    assert mine.cache("c")["k"] == 1 and list(mine.deque("d")) == [2, 3]
    assert mine.index("i")["k"] == (1, 2)
    mine.set("k", b"x" * 40_000)
    with mine.read("k") as file:
        assert file.read(1) == b"x"
    assert (mine.expire(), mine.cull(), Path(mine.directory).name) == (0, 0, "mine")


class Model:
    """Like a model's instance, not in the type map."""


PAGE = """
import sys, django
from django.conf import settings
settings.configure(
    ALLOWED_HOSTS=["*"], SECRET_KEY="x" * 50,
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    CACHES={"default": {
        "BACKEND": sys.argv[1], "LOCATION": sys.argv[2],
        "OPTIONS": {"pickle_secret": sys.argv[3]} if len(sys.argv) > 3 else {},
    }},
)
django.setup()
from django.contrib.sessions.backends.cache import SessionStore
from django.core.cache import cache
from django.http import HttpResponse
from django.template import engines
from django.test import RequestFactory
from django.utils.safestring import mark_safe
from django.views.decorators.cache import cache_page

calls = []
def name():
    calls.append(1)
    return "<Ada>"
template = engines["django"].from_string(
    "{% load cache %}{% cache 60 greeting %}<b>{{ name }}</b>{% endcache %}{{ safe }}"
)
cache.set("safe", mark_safe("<i>"))
cache.set("tagged", "<i>", tag=mark_safe("t"))
for _ in range(2):
    print(template.render({"name": name, "safe": cache.get("safe")}), len(calls))
print(cache.get("tagged", tag=True))
session = SessionStore()
session["name"] = "Ada"
session.save()
print(dict(SessionStore(session.session_key).items()))
view = cache_page(60)(lambda request: calls.append(1) or HttpResponse("page"))
try:
    for _ in range(2):
        print(view(RequestFactory().get("/")).content, len(calls))
except Exception as error:
    print(type(error).__name__)
"""


def test_fragments_sessions_and_pages(tmp_path: Path) -> None:
    def run(*arguments: str) -> tuple[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", PAGE, *arguments], capture_output=True, text=True, timeout=60
        )
        return done.stdout, done.stderr

    mine = "polycache.diskcache.DjangoCache"
    theirs = run("diskcache.DjangoCache", str(tmp_path / "theirs"))
    assert theirs[0].endswith("b'page' 2\nb'page' 2\n")
    assert run(mine, str(tmp_path / "with"), SECRET) == theirs
    # Only pages need pickle.
    without = theirs[0].removesuffix("b'page' 2\nb'page' 2\n") + "PickleNeeded\n"
    assert run(mine, str(tmp_path / "without")) == (without, "")


@pytest.mark.parametrize("text", ["", "<b>", "<b>" * 1000, "ü" * 40_000])
def test_text_that_is_marked_safe_stays_so(text: str, pair: Both, tmp_path: Path) -> None:
    without = DjangoCache(str(tmp_path / "without"), {})
    for cache in (pair.theirs, pair.mine, without):
        cache.set("k", mark_safe(text))
        cache.set("plain", text)
        for found in (cache.get("k"), cache.pop("k")):
            assert found == text and type(found) is SafeString
        assert type(cache.get("plain")) is str
        cache.cache("other")["k"] = mark_safe(text)
        assert type(cache.cache("other")["k"]) is SafeString


def test_an_error_names_the_option_of_django(pair: Both, tmp_path: Path) -> None:
    without = DjangoCache(str(tmp_path / "without"), {})
    pair.mine.set("k", {1: 2})
    pickled = DjangoCache(pair.mine.directory, {"KEY_PREFIX": "p", "VERSION": 3})
    for call in (
        lambda: without.set("k", [Model()]),
        lambda: without.add("k", [Model()]),
        lambda: pickled.get("k"),
        lambda: pickled.pop("k"),
    ):
        with pytest.raises(ours.PickleNeeded, match=r'"OPTIONS": {"pickle_secret": ') as error:
            call()
        assert "use_pickle" not in str(error.value)
    with pytest.raises(ours.PickleNeeded) as error:
        without.set("k", [Model()])
    assert error.value.path == "$[0]"
    assert pickled.has_key("k")


def test_it_is_a_backend_by_its_name(tmp_path: Path) -> None:
    program = """
import sys
from django.conf import settings
settings.configure(CACHES={"default": {
    "BACKEND": "polycache.diskcache.DjangoCache", "LOCATION": sys.argv[1],
}})
from django.core.cache import cache
cache.set("k", {"a": [1]})
print(cache.get("k"), cache.directory == sys.argv[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("{'a': [1]} True\n", "")
    assert ours.DjangoCache is DjangoCache
    with pytest.raises(AttributeError):
        ours.Nothing  # type: ignore[attr-defined]  # noqa: B018
