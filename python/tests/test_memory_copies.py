"""MemoryCache: which caller sees a change of a value."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polycache import MemoryCache


def test_the_objects_themselves_or_copies() -> None:
    value = {"list": [1]}
    itself: MemoryCache[str, Any] = MemoryCache(isolation="none")
    itself["k"] = value
    assert itself["k"] is value
    apart: MemoryCache[str, Any] = MemoryCache()
    apart["k"] = value
    value["list"].append(2)
    reads: list[Callable[[str], Any]] = [
        apart.__getitem__,
        apart.get,
        apart.peek,
        lambda k: dict(apart.items())[k],
        lambda k: apart.get_many([k])[k],
        lambda k: apart.setdefault(k, {}),
        lambda k: apart.get_or_set(k, dict),
        lambda k: apart.entry(k).value,  # type: ignore[union-attr]
    ]
    for read in reads:
        read("k")["list"].append(3)
        assert apart["k"] == {"list": [1]}
    loaded = apart.get_or_set("l", lambda: value)
    loaded["list"].append(4)
    assert apart["l"] == {"list": [1, 2]}


class Frozen:
    """Says that it needs no copy."""

    def __deepcopy__(self, _: object) -> "Frozen":
        return self


@pytest.mark.parametrize(
    "value", ["text", b"bytes", 7, 10**40, 1.5, True, None, (1, "a", (2,)), int, len, Frozen()]
)
def test_what_cannot_change_is_shared(value: Any) -> None:
    cache: MemoryCache[str, Any] = MemoryCache(isolation="clone")
    cache["k"] = value
    assert cache["k"] is cache.get("k") is cache.peek("k") is value
    assert cache.take("k") is value


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}, bytearray(b"a"), ([1],)])
def test_what_can_change_is_copied_by_every_write(value: Any) -> None:
    cache: MemoryCache[str, Any] = MemoryCache()
    writes: list[Callable[[], object]] = [
        lambda: cache.__setitem__("k", value),
        lambda: cache.set("k", value),
        lambda: cache.set("k", value, ttl=60),
        lambda: cache.set_many({"k": value}),
        lambda: cache.setdefault("k", value),
        lambda: cache.get_or_set("k", lambda: value),
        lambda: cache.get_or_set_many(["k"], lambda _: {"k": value}),
    ]
    for write in writes:
        write()
        one, other = cache["k"], cache["k"]
        assert one == other == value
        assert len({id(one), id(other), id(value)}) == 3
        # A taken value has one owner: it is the cache's own copy.
        assert cache.take("k") == value and "k" not in cache


leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.one_of(st.text(max_size=3), st.tuples(st.integers())), inner, max_size=4
        ),
        st.sets(st.integers(), max_size=3),
        st.tuples(),
        st.tuples(inner, inner),
        # One part that is reached twice.
        inner.map(lambda one: [one, {"again": one}]),
        st.builds(bytearray, st.binary(max_size=3)),
        st.frozensets(st.integers(), max_size=3),
    ),
    max_leaves=12,
)


def structure(value: Any, seen: dict[int, int]) -> Any:
    """The value with its classes, and which of its parts that can change are one object; those are
    listed in `seen`."""
    if isinstance(value, list | dict | set | bytearray):
        if id(value) in seen:
            return "again", seen[id(value)]
        seen[id(value)] = len(seen)
    if isinstance(value, dict):
        return dict, [(key, structure(part, seen)) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [structure(part, seen) for part in value]
    return type(value), value


@given(trees)
def test_copies_are_those_of_deepcopy(value: Any) -> None:
    cache: MemoryCache[str, Any] = MemoryCache()
    cache["k"] = value
    values = [value, cache["k"], cache["k"], copy.deepcopy(value)]
    seen: list[dict[int, int]] = [{} for _ in values]
    first, *others = (structure(one, ids) for one, ids in zip(values, seen, strict=True))
    assert others == [first] * 3
    # No part that can change is another's.
    assert len(set().union(*seen)) == sum(map(len, seen))


def test_a_value_that_holds_itself() -> None:
    cache: MemoryCache[str, Any] = MemoryCache()
    value: list[Any] = [1, {}]
    value[1]["itself"] = value
    cache["k"] = value
    for _ in range(2):
        read = cache["k"]
        assert read is not value and read[1]["itself"] is read
    shared: list[int] = [1]
    cache["s"] = {"a": shared, "b": shared, "c": [shared]}
    read = cache["s"]
    assert read["a"] is read["b"] is read["c"][0] is not shared
