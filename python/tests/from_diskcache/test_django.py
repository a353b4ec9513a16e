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
