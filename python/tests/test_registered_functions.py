"""`encode` and `decode` of registered types: what they raise, and what they may do."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT, together, until, waiting
from registered import TYPES, Frozen, Point, User, every_cache, never_called, opened

from polycache import MISSING, Cache, Named, Type, UnsupportedValue, WrongType


@every_cache
def test_what_encode_gives_is_checked_like_every_value(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=TYPES) as cache:
        user = User("Ada", [object()])  # type: ignore[list-item]
        with pytest.raises(UnsupportedValue) as refusal:
            cache.set("k", {"first": 1, "u u": user, "last": object()})
        assert refusal.value.path == '$["u u"].roles[0]'
        user.roles = [user]  # type: ignore[list-item]
        with pytest.raises(UnsupportedValue, match="128"):
            cache.set("k", user)
        with pytest.raises(UnsupportedValue) as refusal:
            cache.set("k", [1, frozenset([Frozen(1)])])
        assert refusal.value.path == "$[1][0]"


def test_a_registered_type_in_a_set_is_refused() -> None:
    with Cache(types={"frozen": Frozen}) as cache, pytest.raises(UnsupportedValue) as refusal:
        cache.set("k", {"s": {Frozen(1)}})
    assert refusal.value.path == "$.s[0]"


class Broken(Exception):
    pass


def failing(error: BaseException) -> Type[Point]:
    def fail(_: Any) -> Any:
        raise error

    return Type(Point, encode=fail, decode=fail)


@every_cache
def test_an_encode_that_raises_makes_a_value_unsupported(kind: str, directory: Path) -> None:
    failure = Broken("not today")
    with opened(kind, directory, types={"point": failing(failure), "user": User}) as cache:
        cache.set("k", "old")
        user = User("Ada", [Point(1, 2)])  # type: ignore[list-item]
        writes: list[Callable[[], None]] = [
            lambda: cache.set("k", [1, user]),
            lambda: cache.set_many({"k": [1, user]}),
        ]
        for write in writes:
            with pytest.raises(UnsupportedValue, match=r"point.*Broken: not today") as refusal:
                write()
            assert refusal.value.path == "$[1].roles[0]"
            assert refusal.value.__cause__ is failure
        assert cache.get("k") == "old"


@every_cache
def test_a_loaded_value_whose_encode_raises_is_handed_over(
    kind: str, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failure = Broken("not today")
    types = {"point": failing(failure)}
    with opened(kind, directory, types=types) as cache:
        value = [Point(1, 2)]
        assert cache.get_or_set("k", lambda: value) is value
        assert cache.stats().unstored == 1 and "not today" in caplog.text
        assert cache.get("k") is None
    if kind == "no path":
        directory = directory.with_name("other")
    with opened(kind, directory, types=types, store_errors="raise") as cache:
        with pytest.raises(UnsupportedValue) as refusal:
            cache.get_or_set("k", lambda: value)
        assert (refusal.value.path, refusal.value.__cause__) == ("$[0]", failure)


@every_cache
def test_a_decode_that_raises_is_a_wrong_type(kind: str, directory: Path) -> None:
    failure = Broken("another shape")
    with opened(kind, directory, types={"point": failing(failure), "user": User}) as cache:
        cache.set("k", {"a b": [0, Named("user", {"name": Named("point", 1)})]})
        reads: list[Callable[[], Any]] = [
            lambda: cache.get("k"),
            lambda: cache.get_many(["k"]),
            lambda: cache.get_or_set("k", never_called),
            lambda: cache.get("k", MISSING),
        ]
        for read in reads:
            with pytest.raises(WrongType, match=r"point.*Broken: another shape") as error:
                read()
            assert error.value.path == '$["a b"][1].name'
            assert error.value.__cause__ is failure
        # It is not a miss, and what stands there stays.
        assert "k" in cache
        cache.set("k", Named("user", {"surname": "Lovelace"}))
        with pytest.raises(WrongType, match="TypeError") as error:
            cache.get("k")
        assert error.value.path == "$"


@every_cache
def test_a_loaded_value_that_decode_does_not_take_is_the_same_error_for_all(
    kind: str, directory: Path
) -> None:
    types = {"point": Type(Point, encode=Point.to_list, decode=failing(Broken()).decode)}
    with opened(kind, directory, types=types, lease_timeout=2 * LIMIT) as cache:
        begun = threading.Event()

        def load() -> Any:
            begun.set()
            waiting(cache, 2)
            return [Point(1, 2)]

        def path_of_error() -> str:
            with pytest.raises(WrongType) as error:
                cache.get_or_set("k", load)
            return error.value.path

        def join() -> str:
            assert begun.wait(LIMIT)
            return path_of_error()

        assert together(path_of_error, join, join) == ["$[0]"] * 3
        with pytest.raises(WrongType):
            cache.get("k")


class Stop(BaseException):
    pass


@every_cache
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), Stop()], ids=repr)
def test_an_interrupt_passes_through(kind: str, error: BaseException, directory: Path) -> None:
    failed = failing(error)
    half = Type(Point, encode=Point.to_list, decode=failed.decode)
    with opened(kind, directory, types={"point": failed}) as cache:
        cache.set("stands", Named("point", [1, 2]))
        calls: list[Callable[[], Any]] = [
            lambda: cache.set("k", [Point(1, 2)]),
            lambda: cache.set_many({"k": [Point(1, 2)]}),
            lambda: cache.get_or_set("k", lambda: [Point(1, 2)]),
            lambda: cache.get("stands"),
            lambda: cache.get_or_set("stands", never_called),
        ]
        for call in calls:
            with pytest.raises(type(error)) as raised:
                call()
            assert raised.value is error
        # No load is left behind.
        assert cache._loads() == [] and cache.get_or_set("k", lambda: 1) == 1
    if kind == "no path":
        directory = directory.with_name("other")
    with opened(kind, directory.with_name("half"), types={"point": half}) as cache:
        with pytest.raises(type(error)) as raised:
            cache.get_or_set("k", lambda: [Point(1, 2)])
        assert raised.value is error
        assert cache._loads() == [] and "k" in cache


@every_cache
def test_who_joined_a_load_whose_encode_is_interrupted_loads(kind: str, directory: Path) -> None:
    interrupts = iter([Stop()])

    def encode(point: Point) -> Any:
        for stop in interrupts:
            raise stop
        return point.to_list()

    types = {"point": Type(Point, encode=encode, decode=Point.from_list)}
    with opened(kind, directory, types=types, lease_timeout=2 * LIMIT) as cache:
        begun = threading.Event()

        def load() -> Any:
            if not begun.is_set():
                begun.set()
                waiting(cache, 1)
            return Point(1, 2)

        def first() -> Any:
            with pytest.raises(Stop):
                cache.get_or_set("k", load)
            return Point(1, 2)

        def join() -> Any:
            assert begun.wait(LIMIT)
            return cache.get_or_set("k", load)

        assert together(first, join) == [Point(1, 2)] * 2
        assert cache.get("k") == Point(1, 2)


@every_cache
def test_encode_and_decode_may_use_the_cache(kind: str, directory: Path) -> None:
    caches: list[Cache] = []

    def encode(point: Point) -> Any:
        cache = caches[0]
        cache.set("encoded", cache.get("encoded", 0) + 1)
        cache.delete("k")
        assert cache.get_or_set(f"by {point.x}", lambda: point.to_list()) == point.to_list()
        assert list(cache.keys())
        return cache.get(f"by {point.x}")

    def decode(value: Any) -> Any:
        cache = caches[0]
        cache.set("decoded", [value, cache.get("decoded")])
        cache.namespace("n").clear()
        assert cache.get_many(["decoded"])
        return Point(*value)

    with opened(
        kind, directory, types={"point": Type(Point, encode=encode, decode=decode)}
    ) as cache:
        caches.append(cache)
        cache.set("k", [Point(1, 2)])
        assert cache.get("k") == [Point(1, 2)]
        assert cache.get_or_set("l", lambda: [Point(3, 4)]) == [Point(3, 4)]
        assert cache.get("l") == [Point(3, 4)]
        caches.clear()


@every_cache
def test_an_encode_that_loads_its_own_key_is_told_so(kind: str, directory: Path) -> None:
    caches: list[Cache] = []

    def encode(point: Point) -> Any:
        return caches[0].get_or_set("k", lambda: 1)

    with opened(kind, directory, types={"point": Type(Point, encode=encode, decode=list)}) as cache:
        caches.append(cache)
        value = Point(1, 2)
        assert cache.get_or_set("k", lambda: value) is value
        assert cache.stats().unstored == 1
        caches.clear()


@every_cache
def test_an_encode_that_waits_for_who_waits_for_it_loads_alone(kind: str, directory: Path) -> None:
    caches: list[Cache] = []
    other_waits = threading.Event()

    def encode(point: Point) -> Any:
        assert other_waits.wait(LIMIT)
        waiting(caches[0], 1)
        return [caches[0].get_or_set("b", lambda: 5), point.y]

    types = {"point": Type(Point, encode=encode, decode=Point.from_list)}
    with opened(kind, directory, types=types, lease_timeout=2 * LIMIT) as cache:
        caches.append(cache)
        begun = threading.Event()

        def load_a() -> Any:
            begun.set()
            until(lambda: len(cache._loads()) == 2)
            return Point(1, 2)

        def load_b() -> Any:
            other_waits.set()
            return cache.get_or_set("a", load_a).y

        def b() -> Any:
            assert begun.wait(LIMIT)
            return cache.get_or_set("b", load_b)

        got, two = together(lambda: cache.get_or_set("a", load_a), b)
        assert (got, two) == (Point(5, 2), 2)
        caches.clear()
