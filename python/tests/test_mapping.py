"""A cache as a MutableMapping."""

from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from polycache import Cache, UnsupportedValue
from polycache.mapping import BATCH, CacheMapping


@pytest.fixture(params=["directory", "memory"])
def mapping(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CacheMapping]:
    paths = [tmp_path / "cache"] if request.param == "directory" else []
    with Cache(*paths, namespace="prices") as cache:
        yield CacheMapping(cache)


def test_it_does_what_a_dictionary_does(mapping: CacheMapping) -> None:
    assert isinstance(mapping, MutableMapping)
    twin: dict[str | bytes, object] = {}
    for it in (mapping, twin):
        it["a"] = 1
        it.update({"b": 2}, c=[3])
        it.update([("d", None)])
        assert it.setdefault("a", 5) == 1 and it.setdefault("e", 5) == 5
        assert it.pop("a") == 1 and it.pop("a", 7) == 7
        del it["b"]
    assert dict(mapping) == twin
    assert mapping == twin and mapping != {"c": 1}
    assert len(mapping) == 3 and bool(mapping)
    assert "c" in mapping and "b" not in mapping and mapping.get("b") is None
    assert sorted(mapping.keys()) == ["c", "d", "e"]
    assert sorted(mapping.values(), key=str) == [5, None, [3]]
    assert ("e", 5) in mapping.items() and 5 in mapping.values()
    assert mapping.keys() & {"c", "x"} == {"c"}
    popped = dict(mapping.popitem() for _ in range(3))
    assert popped == twin and not mapping and len(mapping) == 0


@pytest.mark.parametrize("miss", [lambda m: m["x"], lambda m: m.pop("x"), lambda m: m.popitem()])
def test_a_miss_is_a_key_error(mapping: CacheMapping, miss: object) -> None:
    with pytest.raises(KeyError):
        miss(mapping)  # type: ignore[operator]
    with pytest.raises(KeyError):
        del mapping["x"]
    assert mapping.get("x") is None and mapping.get("x", 1) == 1


def test_more_than_a_batch(mapping: CacheMapping) -> None:
    entries = {f"k{number}": number for number in range(2 * BATCH + 7)}
    mapping.update(entries)
    assert dict(mapping.items()) == entries
    assert sorted(mapping.values()) == sorted(entries.values())
    mapping.clear()
    assert list(mapping.items()) == []


def test_what_goes_during_a_walk_is_left_out(mapping: CacheMapping) -> None:
    mapping.update({f"k{number}": number for number in range(3 * BATCH)})
    left = []
    for key, _ in mapping.items():
        left.append(key)
        mapping.clear()
    assert 0 < len(left) <= BATCH


def test_what_is_written_has_the_time_to_live(tmp_path: Path) -> None:
    with Cache(tmp_path / "cache") as cache:
        mapping = CacheMapping(cache, ttl="1h")
        mapping["a"] = 1
        mapping.update(b=2)
        mapping.setdefault("c", 3)
        for key in "abc":
            left = cache.ttl(key)
            assert left is not None and 3500 < left <= 3600


def test_one_of_many_callers_stores_and_one_pops(mapping: CacheMapping) -> None:
    with ThreadPoolExecutor(8) as pool:
        stored = set(pool.map(lambda number: mapping.setdefault("k", number), range(64)))
        popped = list(pool.map(lambda _: mapping.pop("k", None), range(64)))
    assert len(stored) == 1
    assert [one for one in popped if one is not None] == list(stored)


def test_nested_namespaces_are_apart(mapping: CacheMapping) -> None:
    mapping["a"] = 1
    nested = CacheMapping(mapping.cache.namespace("nested"))
    nested["b"] = 2
    assert dict(mapping) == {"a": 1} and dict(nested) == {"b": 2}


def test_what_cannot_be_stored_is_refused(mapping: CacheMapping) -> None:
    with pytest.raises(UnsupportedValue):
        mapping["a"] = object()
    assert "a" not in mapping
