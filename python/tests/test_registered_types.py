"""Types that a program registers by name: spec/entry.md, "Registered types"."""

import asyncio
import copy
import gc
import os
import pickle
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT, together, waiting
from registered import (
    CACHES,
    KEY,
    ORDER,
    TYPES,
    Frozen,
    Order,
    Point,
    User,
    every_cache,
    every_isolated_cache,
    never,
    never_called,
    opened,
)

from polycache import (
    MISSING,
    AsyncCache,
    Cache,
    InvalidArgument,
    Named,
    Type,
    UnsupportedValue,
    WrongType,
)


@every_cache
def test_an_object_comes_back_by_every_way(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=TYPES) as cache:
        cache.set("a", ORDER)
        cache.set_many({"b": [ORDER], "c": {"deep": {"er": ORDER}}})
        assert cache.get("a") == ORDER and type(cache.get("a")) is Order
        assert cache.get("a").customer == User("Ada", ["admin"])
        assert cache.get_many(["a", "b", "x"]) == {"a": ORDER, "b": [ORDER]}
        assert cache.get_or_set("c", dict) == {"deep": {"er": ORDER}}
        assert cache.get("c", MISSING) == {"deep": {"er": ORDER}}
        loaded: Any = cache.get_or_set("d", lambda: (ORDER,))
        assert loaded == [ORDER]
        assert cache.get("d") == [ORDER]


@every_isolated_cache
def test_each_reader_has_an_object_of_its_own(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=TYPES) as cache:
        stored = User("Ada", ["admin"])
        cache.set("k", stored)
        stored.roles.append("changed")
        for _ in range(3):
            read = cache.get("k")
            assert read == User("Ada", ["admin"])
            read.roles.append("mine")
            read.name = "changed"


def test_readers_share_the_object_where_they_share_all(directory: Path) -> None:
    with opened("directory, shared objects", directory, types=TYPES) as cache:
        cache.set("k", User("Ada"))
        read = cache.get("k")
        assert read == User("Ada") and cache.get("k") is read
        cache.set("k", User("Bob"))
        assert cache.get("k") == User("Bob")


def test_without_a_path_and_isolation_it_is_the_object_itself() -> None:
    failing = Type(Point, encode=never, decode=never)
    with Cache(memory={"isolation": "none"}, types={"point": failing}) as cache:
        point = Point(1, 2)
        cache.set("k", point)
        assert cache.get("k") is point
        assert cache.get_or_set("l", lambda: point) is point
    with pytest.raises(InvalidArgument):
        Cache(memory={"isolation": "none"}, types={"": User})


@every_cache
def test_the_first_caller_gets_what_later_ones_get(kind: str, directory: Path) -> None:
    class Tags:
        def __init__(self, tags: Any) -> None:
            self.tags = tags

    listing = Type(Tags, encode=lambda tags: tags.tags, decode=Tags)
    with opened(kind, directory, types={"tags": listing}) as cache:
        loaded = Tags(("a", "b"))
        first = cache.get_or_set("k", lambda: loaded)
        assert first is not loaded and type(first) is Tags and first.tags == ["a", "b"]
        assert cache.get_or_set("k", never_called).tags == ["a", "b"]


@every_cache
def test_those_who_join_a_load_have_objects_of_their_own(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=TYPES, lease_timeout=2 * LIMIT) as cache:
        begun = threading.Event()

        def load() -> Any:
            begun.set()
            waiting(cache, 3)
            return ORDER

        def join() -> Any:
            assert begun.wait(LIMIT)
            return cache.get_or_set("k", load)

        got = together(lambda: cache.get_or_set("k", load), join, join, join)
        assert got == [ORDER] * 4
        all_of_them = [*got, ORDER]
        assert len({id(order) for order in all_of_them}) == 5
        assert len({id(order.customer) for order in all_of_them}) == 5
        assert len({id(order.items) for order in all_of_them}) == 5


@every_cache
def test_a_value_that_a_load_could_not_keep_is_made_all_the_same(
    kind: str, directory: Path
) -> None:
    with opened(kind, directory, types=TYPES) as cache:

        def load() -> Any:
            cache.set("k", "newer")
            return (User("Ada"),)

        assert cache.get_or_set("k", load) == [User("Ada")]
        assert cache.get("k") == "newer"


@every_cache
def test_a_name_that_is_not_registered_gives_name_and_value(kind: str, directory: Path) -> None:
    with opened(kind, directory) as cache:
        ada = Named("user", {"name": "Ada", "roles": []})
        cache.set("k", [ada])
        assert cache.get("k") == [ada]
        assert cache.get_or_set("l", lambda: ada) == ada
    if kind == "no path":
        return
    options: dict[str, Any] = {"encryption": [{"id": 1, "key": KEY}]} if "enc" in kind else {}
    with Cache(directory, types=TYPES, **options) as cache:
        assert cache.get("k") == [User("Ada")]
        cache.set("m", ORDER)
    with Cache(
        directory, types={"order": Type(Order, encode=never, decode=list)}, **options
    ) as cache:
        # What is in it is Named, and comes first.
        assert cache.get("m") == ["number", "customer", "items"]
    with Cache(directory, **options) as cache:
        order = cache.get("m")
        assert order.name == "order" and order.value["customer"] == Named(
            "user", {"name": "Ada", "roles": ["admin"]}
        )
        cache.set("n", order)
    with Cache(directory, types=TYPES, **options) as cache:
        assert cache.get("n") == ORDER


@every_cache
def test_a_named_of_a_registered_name_is_read_as_its_type(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=TYPES) as cache:
        cache.set("k", {"u": Named("user", {"name": "Ada"})})
        assert cache.get("k") == {"u": User("Ada")}
        assert cache.get_or_set("l", lambda: Named("point", [1, 2])) == Point(1, 2)
        assert cache.get_or_set("l", never_called) == Point(1, 2)


@every_isolated_cache
def test_what_is_in_a_named_is_each_reader_s_own(kind: str, directory: Path) -> None:
    with opened(kind, directory) as cache:
        mine = Named("user", {"roles": [1]})
        cache.set("k", mine)
        mine.value["roles"].append(2)
        for _ in range(2):
            read = cache.get("k")
            assert read == Named("user", {"roles": [1]})
            read.value["roles"].append(3)
        loaded = cache.get_or_set("l", lambda: mine)
        loaded.value["roles"].append(4)
        assert cache.get("l") == Named("user", {"roles": [1, 2]})


@every_cache
def test_nested_namespaces_have_the_types(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=TYPES) as cache:
        nested = cache.namespace("a").namespace("b")
        nested.set("k", ORDER)
        assert nested.get("k") == ORDER
        assert nested.get_or_set("l", lambda: [User("Ada")]) == [User("Ada")]


@every_cache
def test_instances_of_subclasses_are_refused(kind: str, directory: Path) -> None:
    class Admin(User):
        pass

    class Name(str):
        pass

    with opened(kind, directory, types=TYPES) as cache:
        for value, path in ((Admin("Ada"), "$"), ([{"a": Admin("Ada")}], "$[0].a")):
            with pytest.raises(UnsupportedValue, match="Admin") as refusal:
                cache.set("k", value)
            assert refusal.value.path == path and refusal.value.__cause__ is None
        with pytest.raises(UnsupportedValue) as refusal:
            cache.set("k", [Named(Name("user"), 1)])
        assert refusal.value.path == "$[0]"


@every_cache
@pytest.mark.parametrize("name", ["", "n" * 256, "é" * 128, 7, "\ud800", None])
def test_a_named_has_a_name_of_1_to_255_bytes(kind: str, name: Any, directory: Path) -> None:
    with opened(kind, directory) as cache:
        cache.set("k", Named("n" * 255, 1))
        with pytest.raises(UnsupportedValue) as refusal:
            cache.set("k", {"a": [Named(name, 1)]})
        assert refusal.value.path == "$.a[0]"
        assert cache.get("k") == Named("n" * 255, 1)


@pytest.mark.parametrize("serializer", ["json", "text", "bytes"])
def test_other_serializers_refuse_it(serializer: Any, directory: Path) -> None:
    with opened("directory", directory, serializer=serializer, types=TYPES) as cache:
        with pytest.raises(UnsupportedValue) as refusal:
            cache.set("k", User("Ada"))
        assert refusal.value.path == "$"


def test_memoized_functions_take_and_give_registered_types(directory: Path) -> None:
    with opened("directory", directory, types=TYPES) as cache:
        calls = []

        @cache.memoize(name="double")
        def double(point: Point) -> Point:
            calls.append(point)
            return Point(2 * point.x, 2 * point.y)

        for _ in range(2):
            assert double(Point(1, 2)) == Point(2, 4)
        assert double(Point(3, 4)) == Point(6, 8) and len(calls) == 2
        assert double.forget(Point(1, 2))
        with pytest.raises(UnsupportedValue):
            double(object())  # type: ignore[arg-type]


async def test_in_asyncio(directory: Path) -> None:
    for cache in (AsyncCache(types=TYPES), AsyncCache(directory, limit="4MiB", types=TYPES)):
        async with cache:

            async def load() -> Order:
                await asyncio.sleep(0)
                return ORDER

            loads = [cache.get_or_set("k", load) for _ in range(3)]
            got = await asyncio.gather(*loads)
            assert got == [ORDER] * 3 and len({id(one.customer) for one in got}) == 3
            assert await cache.get("k") == ORDER
            await cache.namespace("n").set("k", [ORDER])
            assert await cache.namespace("n").get("k") == [ORDER]

            async def stop() -> Any:
                return Named("user", 7)

            with pytest.raises(WrongType):
                await cache.get_or_set("l", stop)
            assert "l" in cache._cache


@every_cache
def test_after_a_fork(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=TYPES) as cache:
        cache.set("k", ORDER)
        child = os.fork()
        if child == 0:
            right = cache.get("k") == ORDER
            cache.set("l", [ORDER])
            os._exit(0 if right and cache.get("l") == [ORDER] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_cache_with_types_can_be_pickled(directory: Path) -> None:
    types = dict(TYPES)
    with opened("directory", directory, types=types) as cache:
        types.clear()
        with pickle.loads(pickle.dumps(cache)) as other:
            other.set("k", ORDER)
        assert cache.get("k") == ORDER


def test_a_cache_in_a_circle_with_its_types_is_collected(directory: Path) -> None:
    def circle(path: Any) -> Any:
        caches: list[Cache] = []

        class Mine:
            def encode(self) -> Any:
                return len(caches)

        options: dict[str, Any] = {} if path is None else {"limit": "4MiB"}
        mine = Type(Mine, encode=Mine.encode, decode=lambda _: Mine())
        cache = Cache(*([] if path is None else [path]), types={"mine": mine}, **options)
        caches.append(cache)
        cache.set("k", Mine())
        cache.get_or_set("l", Mine)
        return weakref.ref(Mine)

    for gone in (circle(None), circle(directory)):
        gc.collect()
        assert gone() is None


WRONG: dict[str, tuple[Any, str]] = {
    "no mapping": ([("user", User)], "mapping"),
    "a class": (User, "mapping"),
    "an empty name": ({"": User}, "1 to 255"),
    "a name of 256 bytes": ({"é" * 128: User}, "1 to 255"),
    "a name that is not text": ({7: User}, "1 to 255"),
    "a name without UTF-8": ({"\ud800": User}, "1 to 255"),
    "two names": ({"a": User, "b": Type(User)}, "two names"),
    "no class": ({"a": "User"}, "class"),
    "an instance": ({"a": User("Ada")}, "class"),
    "a generic": ({"a": list[int]}, "class"),
    "a class of no known kind": ({"a": Point}, "encode"),
    "a Type of no known kind": ({"a": Type(Point)}, "encode"),
    "encode alone": ({"a": Type(Point, encode=Point.to_list)}, "both"),
    "decode alone": ({"a": Type(Point, decode=Point.from_list)}, "both"),
    "encode that is not a function": ({"a": Type(Point, encode=1, decode=list)}, "functions"),  # type: ignore[arg-type]
    "a class of the type map": ({"a": Type(dict, encode=list, decode=dict)}, "type map"),
    "a class that gives way": ({"a": Type(tuple, encode=list, decode=tuple)}, "type map"),
    "Named": ({"a": Type(Named, encode=repr, decode=str)}, "type map"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("kind", ["directory", "no path"])
def test_wrong_types_are_refused_when_the_cache_is_opened(
    wrong: str, kind: str, directory: Path
) -> None:
    types, why = WRONG[wrong]
    with pytest.raises(InvalidArgument, match=why):
        CACHES[kind](directory, types=types)
    assert not directory.exists()


@pytest.mark.parametrize("kind", ["directory", "no path"])
def test_no_types_are_none(kind: str, directory: Path) -> None:
    nothing: list[dict[str, Any] | None] = [None, {}]
    for types in nothing:
        with CACHES[kind](directory, types=types) as cache:
            with pytest.raises(UnsupportedValue, match="types"):
                cache.set("k", User("Ada"))
            cache.set("k", [1])


def test_two_names_of_one_mapping_are_two_types(directory: Path) -> None:
    with opened("directory", directory, types={"n" * 255: User, "ü": Frozen}) as cache:
        cache.set("k", [User("Ada"), Frozen(1)])
        assert cache.get("k") == [User("Ada"), Frozen(1)]
    with Cache(directory) as cache:
        assert [one.name for one in cache.get("k")] == ["n" * 255, "ü"]


def test_named() -> None:
    one = Named("user", {"a": [1]})
    assert one == Named("user", {"a": [1]})
    assert one not in (Named("user", 1), Named("other", {"a": [1]}), ("user", {"a": [1]}))
    assert repr(one) == "polycache.Named('user', {'a': [1]})"
    assert hash(Named("user", 1)) == hash(Named("user", 1))
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]
    match one:
        case Named(name, value):
            assert (name, value) == ("user", {"a": [1]})
    assert pickle.loads(pickle.dumps(one)) == one
    deep = copy.deepcopy(one)
    assert deep == one and deep.value is not one.value
    nan = float("nan")
    assert Named("a", nan) == Named("a", nan)
    assert Named(name="a", value=1) == Named("a", 1)


def test_a_named_in_a_circle_is_collected() -> None:
    class Member:
        pass

    held = Member()
    value: dict[str, Any] = {"held": held}
    value["itself"] = Named("a", value)
    gone = weakref.ref(held)
    del held, value
    gc.collect()
    assert gone() is None


def test_what_is_not_registered_is_not_asked(directory: Path) -> None:
    """Values without registered types: neither function is called, and nothing is made anew."""
    types = {"point": Type(Point, encode=never, decode=never)}
    with opened("directory", directory, types=types) as cache:
        value = {"a": [1, "b"]}
        assert cache.get_or_set("k", lambda: value) is value
        assert cache.get("k") == value
        cache.set("t", "text")
        assert cache.get("t") is cache.get("t")
