"""What is Python's own about the cache; what all languages share is in test_conformance.py."""

import enum
import inspect
import pickle
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest
from conftest import NOW, Clock

from polycache import MISSING, Cache, Closed, InvalidArgument, InvalidKey


def test_a_miss_is_the_default(cache: Cache) -> None:
    assert cache.get("k") is None
    assert cache.get("k", 5) == 5
    assert cache.get("k", default=MISSING) is MISSING
    cache.set("k", None)
    assert cache.get("k", MISSING) is None


SETS_OF_TIERS: list[dict[str, Any]] = [
    {"memory": False},
    {"memory": True},
    {"memory": False, "clock": lambda: NOW},
    {"memory": True, "clock": lambda: NOW},
]


@pytest.mark.parametrize("options", [*SETS_OF_TIERS, None])
def test_get_takes_its_arguments_in_every_way(
    directory: Path, options: dict[str, Any] | None
) -> None:
    get: Any
    with Cache() if options is None else Cache(directory, limit="4MiB", **options) as cache:
        get = cache.get
        cache.set("k", "v")
        for _ in range(3):
            assert get("k") == get(key="k") == get("k", 5) == get("k", default=5) == "v"
            assert get(default=5, key="k") == get(**{"k" + "ey": "k"}) == "v"
            assert get("none") is get(key="none") is get("none", default=None) is None
            assert get("none", 5) == get("none", default=5) == get(default=5, key="none") == 5
        wrong: list[Callable[[], object]] = [
            lambda: get(),
            lambda: get(default=5),
            lambda: get("k", key="k"),
            lambda: get("k", 5, default=5),
            lambda: get("k", 5, 6),
            lambda: get("k", other=5),
        ]
        for call in wrong:
            with pytest.raises(TypeError, match=r"get\(\)"):
                call()
        with pytest.raises(InvalidKey):
            get(7)
        with pytest.raises(InvalidKey):
            get(key=7, default=5)


@pytest.mark.parametrize("options", SETS_OF_TIERS)
def test_a_clock_is_asked_once_for_a_get(directory: Path, options: dict[str, Any]) -> None:
    asked: list[int] = []

    def clock() -> int:
        asked.append(NOW)
        return NOW

    with Cache(directory, limit="4MiB", **(options | {"clock": clock})) as cache:
        cache.set("k", "v")
        for _ in range(3):
            asked.clear()
            assert cache.get("k") == "v" and len(asked) == 1
            assert cache.get("none", default=5) == 5 and len(asked) == 2


def test_missing_is_one_object_false_and_typed() -> None:
    assert not MISSING
    assert repr(MISSING) == "polycache.MISSING"
    assert type(MISSING)("MISSING") is MISSING


def test_missing_cannot_be_stored(cache: Cache) -> None:
    with pytest.raises(TypeError):
        cache.set("k", MISSING)


@pytest.mark.parametrize("ttl", ["1500ms", 1.5, timedelta(seconds=1.5)])
def test_a_ttl_in_each_form(directory: Path, clock: Clock, ttl: Any) -> None:
    with Cache(directory, limit="4MiB", clock=clock) as cache:
        cache.set("k", "v", ttl=ttl)
        assert cache.ttl("k") == 1.5
        clock.now += 1500
        assert cache.ttl("k") is None
        assert cache.get_or_set("k", lambda: "new", ttl=ttl) == "new"
        assert cache.ttl("k") == 1.5
        cache.set_many({"a": 1}, ttl=ttl)
        assert cache.ttl("a") == 1.5


@pytest.mark.parametrize(
    "ttl", [True, -1, 0, -0.5, float("nan"), float("inf"), 2**64, timedelta(-1), "5", b"5m", [1]]
)
def test_what_is_no_ttl(cache: Cache, ttl: Any) -> None:
    for call in (
        lambda: cache.set("k", "v", ttl=ttl),
        lambda: cache.set_many({}, ttl=ttl),
        lambda: cache.get_or_set("k", lambda: "v", ttl=ttl),
    ):
        with pytest.raises(InvalidArgument):
            call()
    assert "k" not in cache


def test_arguments_are_judged_from_left_to_right(cache: Cache) -> None:
    with pytest.raises(InvalidKey):
        cache.set(1, object(), ttl="soon")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        cache.set("k", object(), ttl="0s")


def test_missing_as_ttl_is_the_cache_s_own(directory: Path, clock: Clock) -> None:
    with Cache(directory, limit="4MiB", ttl=10, clock=clock) as cache:
        cache.set("k", "v", ttl=MISSING)
        assert cache.ttl("k") == 10
        cache.set("k", "v", ttl=None)
        assert cache.ttl("k") == float("inf")


def test_an_enumeration_of_text_is_a_key(cache: Cache) -> None:
    class Key(enum.StrEnum):
        USER = "user"

    cache.set(Key.USER, 1)
    assert cache.get("user") == cache.get(b"user") == 1


def test_many_answers_with_the_keys_as_they_were_given(cache: Cache) -> None:
    cache.set_many(MappingProxyType({"a": 1, "b": 2}))
    cache.set_many(OrderedDict(c=3))
    assert cache.get_many(["a", b"b", "absent"]) == {"a": 1, b"b": 2}
    assert cache.get_many(key for key in "abc") == {"a": 1, "b": 2, "c": 3}
    assert cache.delete_many({"a", "b"}) == 2


def test_one_key_where_many_are_wanted_is_a_mistake(cache: Cache) -> None:
    keys: Any
    for keys in ("abc", b"abc"):
        with pytest.raises(InvalidArgument, match="several keys"):
            cache.get_many(keys)
        with pytest.raises(InvalidArgument, match="several keys"):
            cache.delete_many(keys)
    with pytest.raises(InvalidArgument, match="mapping"):
        cache.set_many([("a", 1)])  # type: ignore[arg-type]


def test_keys_are_looked_up_as_they_are_consumed(cache: Cache) -> None:
    keys = cache.keys()
    assert iter(keys) is keys
    cache.set("late", 1)
    assert list(keys) == ["late"]


def test_a_relative_path_is_resolved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Cache("cache", limit="4MiB") as cache:
        monkeypatch.chdir("/")
        assert cache.path == tmp_path / "cache"
        assert Cache(cache.path).path == cache.path


@pytest.mark.parametrize("path", [None, 5, "", b"cache"])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(InvalidArgument):
        Cache(path)


def test_none_stands_for_an_option_s_default(directory: Path) -> None:
    options: Any = dict.fromkeys(
        [
            "namespace",
            "ttl",
            "serializer",
            "compressor",
            "lease_timeout",
            "empty_at_boot",
            "flush_every",
            "clock",
        ]
    )
    with Cache(directory, **options, limit="4MiB") as cache:
        cache.set("k", {1})
        assert cache.get("k") == {1}


@pytest.mark.parametrize(
    "options",
    [
        {"colour": "red"},
        {"namespace": 5},
        {"namespace": ["a", 5]},
        {"namespace": [""]},
        {"namespace": "\ud800"},
        {"namespace": {"a"}},
        {"clock": 5},
    ],
)
def test_wrong_options_are_refused_and_leave_nothing_behind(
    directory: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument):
        Cache(directory, **options)
    assert not directory.exists()


def test_a_namespace_part_is_text(cache: Cache) -> None:
    with pytest.raises(InvalidArgument):
        cache.namespace(5)  # type: ignore[arg-type]


def test_the_context_manager_closes(directory: Path) -> None:
    with Cache(directory, limit="4MiB") as cache:
        users = cache.namespace("users")
        assert not cache.closed
    assert cache.closed
    assert users.closed
    with pytest.raises(Closed):
        users.get("k")


def test_the_clock_is_asked_before_each_operation(directory: Path, clock: Clock) -> None:
    with Cache(directory, limit="4MiB", clock=clock, ttl="1s") as cache:
        nested = cache.namespace("nested")
        nested.set("k", "v")
        clock.now = NOW + 999
        assert "k" in nested
        clock.now = NOW + 1000
        assert "k" not in nested


@pytest.mark.parametrize("answer", [None, "now", -1, float("nan"), float("inf")])
def test_a_clock_that_tells_no_time(directory: Path, answer: Any) -> None:
    with (
        Cache(directory, limit="4MiB", clock=lambda: answer) as cache,
        pytest.raises(InvalidArgument),
    ):
        cache.get("k")


def test_a_clock_that_fails(directory: Path) -> None:
    def clock() -> float:
        raise ZeroDivisionError

    with Cache(directory, limit="4MiB", clock=clock) as cache, pytest.raises(ZeroDivisionError):
        cache.set("k", 1)


def test_what_a_cache_looks_like(directory: Path) -> None:
    cache = Cache(directory, limit="4MiB", namespace="shop")
    users = cache.namespace("users")
    assert repr(users) == f"<polycache.Cache '{directory}', namespace=['shop', 'users']>"
    cache.close()
    assert repr(cache).endswith("(closed)>")


def test_a_subclass_stays_one(directory: Path) -> None:
    class Users(Cache):
        def user(self, number: int) -> Any:
            return self.get(f"user:{number}")

    with Users(directory, limit="4MiB") as users:
        nested = users.namespace("nested")
        nested.set("user:1", "Ada")
        assert nested.user(1) == "Ada"


def test_every_public_method_is_documented() -> None:
    for name, method in inspect.getmembers(Cache, callable):
        if not name.startswith("_"):
            assert inspect.getdoc(method), name


@pytest.mark.parametrize("in_memory", [False, True])
def test_the_end_of_a_block_closes_what_was_opened_there(directory: Path, in_memory: bool) -> None:
    with Cache() if in_memory else Cache(directory, limit="4MiB") as cache:
        with cache.namespace("users") as users, users.namespace("old") as old:
            old.set("k", 1)
        assert not cache.closed and old.get("k") == 1
        if not in_memory:
            # Opened anew, it has a handle of its own.
            with pickle.loads(pickle.dumps(old)) as again:
                assert again.get("k") == 1
            assert again.closed and not cache.closed
        old.close()
        assert cache.closed


@pytest.mark.parametrize("store", ["host", "files"])
def test_a_path_may_begin_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Literal["host", "files"]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with Cache("~/cache", store=store) as cache:
        cache.set("k", 1)
        assert str(cache.path) == str(tmp_path / "cache")
    with Cache(tmp_path / "cache", store=store) as cache:
        assert cache.get("k") == 1
    assert not (tmp_path / "~").exists()
    monkeypatch.setenv("HOME", "")
    with pytest.raises(InvalidArgument, match="HOME"):
        Cache("~/cache", store=store)
