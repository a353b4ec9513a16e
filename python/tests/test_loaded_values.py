"""What the caller of a load gets, and what becomes of values that can't be stored."""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT, together, waiting
from tagged import tagged_of

from polycache import Cache, EntryTooLarge, MemoryCache, UnsupportedValue

CACHES: dict[str, Callable[..., Any]] = {
    "directory": lambda path, **options: Cache(path, limit="4MiB", **options),
    "json": lambda path, **options: Cache(path, limit="4MiB", serializer="json", **options),
    "no path": lambda _, **options: Cache(**options),
}
NOON = datetime(2024, 5, 6, 12, tzinfo=timezone(timedelta(hours=2)))
VALUES: list[Any] = [
    (1, (2, "three")),
    {"a": ({"b": (1,)},)},
    frozenset({1, 2}),
    [frozenset({"a"})],
    bytearray(b"bytes"),
    memoryview(b"bytes"),
    NOON,
    [NOON.astimezone(UTC)],
    [1, "plain", {"a": None}],
]


class Thing:
    pass


@pytest.mark.parametrize("kind", CACHES)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_the_first_call_gets_what_later_calls_get(kind: str, value: Any, directory: Path) -> None:
    cache = CACHES[kind](directory)
    first = cache.get_or_set("k", lambda: value)
    if cache.stats().unstored:
        assert first is value
        return
    later = cache.get("k")
    assert typed(first) == typed(later)
    assert first == later


def typed(value: Any) -> Any:
    """The value's types, to its depth."""
    if isinstance(value, dict):
        return {key: typed(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value), [typed(part) for part in value]
    return type(value), getattr(value, "tzinfo", None)


def test_what_comes_back_as_it_is_is_not_made_anew(directory: Path) -> None:
    value = [1, "plain", {"a": b"bytes", "b": datetime.now(UTC)}]
    with Cache(directory, limit="4MiB") as cache:
        assert cache.get_or_set("k", lambda: value) is value
    assert Cache().get_or_set("k", lambda: value) is value


@pytest.mark.parametrize("kind", CACHES)
def test_everybody_gets_a_value_of_their_own(kind: str, directory: Path) -> None:
    cache = CACHES[kind](directory)
    begun = threading.Event()

    def load() -> Any:
        begun.set()
        waiting(cache, 5)
        return {"a": (1,)}

    def join() -> Any:
        assert begun.wait(LIMIT)
        return cache.get_or_set("k", load)

    found = together(lambda: cache.get_or_set("k", load), *[join] * 5)
    for one in found:
        assert one == {"a": [1]}
        one["a"].append(2)
    assert cache.get("k") == {"a": [1]}


@pytest.mark.parametrize("kind", ["directory", "no path"])
def test_unstored_values_are_handed_over_counted_and_reported_once(
    kind: str, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = CACHES[kind](directory)
    begun = threading.Event()
    thing = Thing()

    def load() -> list[Thing]:
        begun.set()
        waiting(cache, 3)
        return [thing]

    def join() -> Any:
        assert begun.wait(LIMIT)
        return cache.get_or_set("k", load)

    with caplog.at_level(logging.WARNING, "polycache"):
        found = together(lambda: cache.get_or_set("k", load), *[join] * 3)
        # It has no copies: the object itself.
        assert all(one is found[0] for one in found) and found[0] == [thing]
        nested = cache.namespace("nested")
        assert nested.get_or_set("k", lambda: thing) is thing
    assert not cache.has("k") and cache.check().leases == 0
    assert cache.stats().unstored == nested.stats().unstored == 2
    assert [record.name for record in caplog.records] == ["polycache"]
    assert "unsupported_value" in caplog.text
    with pytest.raises(UnsupportedValue):
        cache.set("k", thing)
    assert cache.stats().unstored == 2


@pytest.mark.parametrize("kind", CACHES)
def test_store_errors_can_be_raised(kind: str, directory: Path) -> None:
    cache = CACHES[kind](directory, store_errors="raise")
    with pytest.raises(UnsupportedValue) as failure:
        cache.get_or_set("k", lambda: {"a": [Thing()]})
    assert failure.value.path == "$.a[0]"
    assert cache._loads() == [] and cache.check().leases == 0
    assert cache.get_or_set("k", lambda: "next") == "next"


def test_what_is_too_large_is_as_a_reader_would_get_it(directory: Path) -> None:
    large = "x" * 2_000_000
    with Cache(directory, limit="4MiB") as cache:
        found: Any = cache.get_or_set("k", lambda: (large,))
        assert found == [large]
        assert cache.stats().unstored == 1
    small = Cache(memory={"max_bytes": 2000}, store_errors="raise")
    with pytest.raises(EntryTooLarge):
        small.get_or_set("k", lambda: large)


def test_in_a_memory_cache_too(caplog: pytest.LogCaptureFixture) -> None:
    def weigh(_: str, value: str) -> int:
        return len(value)

    cache: MemoryCache[str, Any] = MemoryCache(max_bytes=10, weigher=weigh)
    assert cache.get_or_set("k", lambda: "x" * 11) == "x" * 11
    assert cache.get_or_set("l", lambda: "x" * 11) == "x" * 11
    assert "k" not in cache and cache.stats().unstored == 2
    assert len(caplog.records) == 1
    raising: MemoryCache[str, Any] = MemoryCache(max_bytes=10, weigher=weigh, store_errors="raise")
    with pytest.raises(EntryTooLarge):
        raising.get_or_set("k", lambda: "x" * 11)
    copying: MemoryCache[str, Any] = MemoryCache()
    lock = threading.Lock()
    assert copying.get_or_set("k", lambda: lock) is lock
    assert copying.stats().unstored == 1

    # Functions that are memoized say nothing of what is too large.
    caplog.clear()

    @MemoryCache[Any, Any](0).memoize
    def function(number: int) -> int:
        return number

    assert function(1) == 1 and not caplog.records

    # What has no copy would never be kept.
    @copying.memoize
    def uncopied() -> Any:
        return lock

    copied: MemoryCache[Any, Any] = MemoryCache()
    for memoized in (uncopied, copied.memoize(uncopied)):
        caplog.clear()
        assert memoized() is lock
    assert len(caplog.records) == 1 and 'isolation="none"' in caplog.text


@pytest.mark.parametrize("value", [*VALUES, Thing(), {1: 2}, "\ud800", [[Thing()]], {(1, 2)}])
def test_caches_with_and_without_a_path_agree(value: Any, directory: Path) -> None:
    found = []
    for cache in (Cache(directory, limit="4MiB"), Cache()):
        try:
            cache.set("k", value)
            found.append(tagged_of(cache.get("k")))
        except UnsupportedValue as error:
            found.append((type(error), error.path, str(error)))
        cache.close()
    assert found[0] == found[1]
