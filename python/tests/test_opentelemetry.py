"""Metrics for OpenTelemetry, read by the real SDK: spec/metrics.md and spec/metrics.json."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.metrics import Meter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from polycache import AsyncCache, Cache, InvalidArgument, MemoryCache, WaitTimeout, cachetools
from polycache import opentelemetry as metrics
from polycache.opentelemetry import observe

SPEC = Path(__file__).resolve().parents[2] / "spec"
CONTRACT = json.loads((SPEC / "metrics.json").read_text())
KINDS = {"counter": True, "updowncounter": False}
Cell = tuple[str, frozenset[tuple[str, str]]]


class Collector:
    """A meter of its own, and what it collected last."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader])
        self.meter: Meter = self.provider.get_meter("polycache")

    def metrics(self) -> dict[str, Any]:
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        return {
            metric.name: metric
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def points(self) -> dict[Cell, Any]:
        """By name, and attributes without `polycache.`."""
        return {
            (name, labels(point.attributes)): point
            for name, metric in self.metrics().items()
            for point in metric.data.data_points
        }

    def values(self) -> dict[Cell, int]:
        """Of counters, and how often histograms were recorded."""
        return {
            cell: point.value if hasattr(point, "value") else point.count
            for cell, point in self.points().items()
        }


def labels(attributes: dict[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((word.removeprefix("polycache."), text) for word, text in attributes.items())


def cell(name: str, cache: str = "default", **attributes: str) -> Cell:
    of = {"cache.name": cache, **{k.replace("_", "."): v for k, v in attributes.items()}}
    return f"polycache.{name}", frozenset(of.items())


def reads(cache: str, tier: str, outcome: str) -> Cell:
    return cell("reads", cache, tier=tier, read_outcome=outcome)


def loads(outcome: str, cache: str = "default") -> Cell:
    return cell("load.duration", cache, load_outcome=outcome)


WAITS = cell("load.wait.duration")


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.provider.shutdown()


Make = Callable[..., Cache]


@pytest.fixture(params=["host", "memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Opens a cache over a directory, or without one."""
    if request.param == "host":
        return lambda **options: Cache(tmp_path / "cache", **options)
    return lambda **options: Cache(**options)


def use(cache: Any) -> None:
    """Reads, writes and loads, of every kind that is counted."""
    cache.set("a", 1)
    cache.set("b", 2)
    for _ in range(3):
        assert cache.get("a") == 1
    assert cache.get("absent") is None
    cache.delete("b")
    cache.get_or_set("c", lambda: 3)


def test_instruments_and_attributes_are_those_of_the_contract(
    make: Make, collector: Collector
) -> None:
    cache, objects = make(wait_timeout="5ms"), MemoryCache[str, int](max_bytes="1MiB")
    observe(cache, collector.meter)
    observe(objects, collector.meter, name="objects")
    use(cache)
    with pytest.raises(WaitTimeout):
        waits_too_long(cache)
    found = collector.metrics()
    for wanted in CONTRACT["instruments"]:
        metric = found.pop(wanted["name"])
        assert metric.unit == wanted["unit"]
        assert metric.description == wanted["description"]
        if wanted["kind"] == "histogram":
            bounds = metric.data.data_points[0].explicit_bounds
            assert list(bounds) == CONTRACT["boundaries"]
        else:
            assert metric.data.is_monotonic is KINDS[wanted["kind"]]
        for point in metric.data.data_points:
            assert set(point.attributes) == set(wanted["attributes"])
            for word, text in point.attributes.items():
                allowed = CONTRACT["attributes"][word]
                assert allowed is None or text in allowed
    assert found == {}


def test_a_memory_cache_has_what_the_contract_says(collector: Collector) -> None:
    cache = MemoryCache[str, int]()
    observe(cache, collector.meter)
    use(cache)
    collected = set(collector.metrics())
    for wanted in CONTRACT["instruments"]:
        has = "python" in wanted.get("memory_cache", ["python"])
        if wanted["name"] != "polycache.load.wait.duration":  # Nobody waited.
            assert (wanted["name"] in collected) is has, wanted["name"]


def test_counts_are_those_of_stats(make: Make, collector: Collector) -> None:
    cache = make(namespace=["shop", "eu"])
    observe(cache, collector.meter)
    use(cache.namespace("nested"))
    stats = cache.stats()
    values = collector.values()
    tier = "memory" if cache.path is None else "host"
    name = "shop::eu"
    assert values[reads(name, "memory", "hit")] == stats.memory_hits
    assert values[reads(name, tier, "miss")] == stats.misses == 2
    total = [value for (of, _), value in values.items() if of == "polycache.reads"]
    assert sum(total) == stats.hits + stats.misses == 5
    assert values[cell("writes", name, tier=tier)] == stats.writes
    assert values[cell("deletes", name, tier=tier)] == 1
    assert values[cell("entries", name, tier=tier)] == stats.entries == 2
    assert values[cell("usage", name, tier=tier)] == stats.bytes
    assert values[cell("limit", name, tier=tier)] == stats.limit
    causes = {
        text
        for of, attributes in values
        for word, text in attributes
        if of == "polycache.evictions" and word == "eviction.cause"
    }
    assert causes == ({"room"} if cache.path is None else {"age", "conflict", "failed_put"})


def test_a_memory_cache_counts_evictions_and_expirations(collector: Collector) -> None:
    now = [0.0]
    cache = MemoryCache[str, int](1, clock=lambda: now[0], ttl=1)
    observe(cache, collector.meter, name="small")
    cache.set("a", 1)
    cache.set("b", 2)
    now[0] = 5_000
    cache.expire()
    values = collector.values()
    assert values[cell("evictions", "small", tier="memory", eviction_cause="room")] == 1
    assert values[cell("expirations", "small", tier="memory")] == 1
    assert values[cell("entries", "small", tier="memory")] == 0


def test_no_limit_is_no_number(collector: Collector) -> None:
    cache = Cache(memory={"max_bytes": None})
    observe(cache, collector.meter)
    assert "polycache.limit" not in collector.metrics()
    assert "polycache.usage" in collector.metrics()


def test_statistics_are_read_once_a_collection(
    make: Make, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make()
    observe(cache, collector.meter)
    read = cache._observers.counts
    assert read is not None
    times = []
    cache._observers.counts = lambda: times.append(1) or read()  # type: ignore[func-returns-value]
    # Whatever time it is: instruments that have reported what was read read anew.
    monkeypatch.setattr(metrics, "monotonic", lambda: 0.0)
    for collection in (1, 2, 3):
        cache.get("absent")
        tier = "memory" if cache.path is None else "host"
        assert collector.values()[reads("default", tier, "miss")] == collection
        assert len(times) == collection


def test_old_statistics_are_read_anew(
    make: Make, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = make()
    observe(cache, collector.meter)
    now = [0.0]
    monkeypatch.setattr(metrics, "monotonic", lambda: now[0])
    source = metrics._of_meters[collector.meter].sources[0]
    first = source.measured("polycache.reads")
    assert source.measured("polycache.writes")[0].value == 0
    cache.set("a", 1)
    assert source.measured("polycache.deletes")[0].value == 0
    now[0] = metrics.FRESH + 0.5
    # An instrument of another reader, which collects later.
    assert source.measured("polycache.entries")[0].value == 1
    assert first is not source.measured("polycache.reads")


def test_loads_are_told_by_their_outcome(make: Make, collector: Collector) -> None:
    cache = make()
    observe(cache, collector.meter)
    cache.get_or_set("a", lambda: 1)
    cache.get_or_set("a", lambda: 1)
    cache.get_or_set_many(["a", "b", "c"], lambda keys: dict.fromkeys(keys, 2))
    cache.namespace("nested").memoize(name="f")(lambda: 1)()
    with pytest.raises(ZeroDivisionError):
        cache.get_or_set("d", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        cache.get_or_set_many(["d"], lambda keys: 1 // 0)  # type: ignore[arg-type,return-value]
    with pytest.raises(KeyboardInterrupt):
        cache.get_or_set("e", interrupted)
    values = collector.values()
    assert [values[loads(how)] for how in ("loaded", "failed", "abandoned")] == [3, 2, 1]
    assert WAITS not in values


def interrupted() -> None:
    raise KeyboardInterrupt


def waits_too_long(cache: Cache, other: Cache | None = None) -> None:
    """One that waits for a load, of another handle if there is one, which does not end before
    `wait_timeout`."""
    begun, enough = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        assert enough.wait(60)
        return 1

    loading = threading.Thread(target=lambda: (other or cache).get_or_set("slow", slow))
    loading.start()
    assert begun.wait(60)
    try:
        cache.get_or_set("slow", lambda: 2)
    finally:
        enough.set()
        loading.join()


def test_waits_are_told_however_they_end(make: Make, collector: Collector) -> None:
    cache = make(wait_timeout="5ms")
    observe(cache, collector.meter)
    with pytest.raises(WaitTimeout):
        waits_too_long(cache)
    values = collector.values()
    assert values[WAITS] == 1
    assert values[cell("load.wait.timeouts")] == 1
    assert values[loads("loaded")] == 1


def test_waits_for_other_processes_are_told(tmp_path: Path, collector: Collector) -> None:
    # To the lease another handle is another process.
    cache, other = Cache(tmp_path, wait_timeout="5ms"), Cache(tmp_path)
    observe(cache, collector.meter)
    with pytest.raises(WaitTimeout):
        waits_too_long(cache, other)
    assert collector.values()[WAITS] == 1


@pytest.mark.parametrize("many", [False, True])
def test_a_wait_that_brings_a_value_is_told(make: Make, collector: Collector, many: bool) -> None:
    cache = make()
    observe(cache, collector.meter)
    begun = threading.Event()

    def slow() -> int:
        begun.set()
        while not any(load.waiting for load in cache._loads()):
            pass
        return 1

    loading = threading.Thread(target=lambda: cache.get_or_set("a", slow))
    loading.start()
    assert begun.wait(60)
    if many:
        found = cache.get_or_set_many(["a", "b"], lambda keys: dict.fromkeys(keys, 1))
        assert found == {"a": 1, "b": 1}
    else:
        assert cache.get_or_set("a", lambda: 2) == 1
    loading.join()
    values = collector.values()
    assert values[WAITS] == 1
    assert values[loads("loaded")] == 1 + many


async def test_asynchronous_loads_are_told(make: Make, collector: Collector) -> None:
    cache = AsyncCache.over(make(name="prices"))
    observe(cache, collector.meter)
    begun, enough = asyncio.Event(), asyncio.Event()

    async def slow() -> int:
        begun.set()
        await enough.wait()
        return 1

    async def fails() -> int:
        raise ZeroDivisionError

    leader = asyncio.create_task(cache.get_or_set("a", slow))
    await begun.wait()
    follower = asyncio.create_task(cache.get_or_set("a", slow))
    while not any(load.waiting for load in cache._cache._loads()):
        await asyncio.sleep(0)
    enough.set()
    assert await leader == await follower == 1
    with pytest.raises(ZeroDivisionError):
        await cache.get_or_set("b", fails)
    begun.clear()
    enough.clear()
    cancelled = asyncio.create_task(cache.get_or_set("c", slow))
    await begun.wait()
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled

    async def all_of(keys: list[str]) -> dict[str, int]:
        return dict.fromkeys(keys, 1)

    await cache.get_or_set_many(["d", "e"], all_of)
    values = collector.values()
    told = [values[loads(how, "prices")] for how in ("loaded", "failed", "abandoned")]
    assert told == [2, 1, 1]
    assert values[cell("load.wait.duration", "prices")] == 1


async def test_loads_of_a_memory_cache_are_told(collector: Collector) -> None:
    cache = MemoryCache[str, int]()
    observe(cache, collector.meter)
    cache.get_or_set("a", lambda: 1)

    async def two() -> int:
        return 2

    await cache.get_or_set_async("b", two)
    cache.get_or_set_many(["c"], lambda keys: dict.fromkeys(keys, 3))
    dropped_in = cachetools.LRUCache[Any, int](2)
    observe(dropped_in, collector.meter, name="dropped in")
    cachetools.cached(dropped_in)(lambda: 1)()
    values = collector.values()
    assert values[loads("loaded")] == 3
    assert values[loads("loaded", "dropped in")] == 1


def test_names_tell_caches_apart(make: Make, collector: Collector) -> None:
    first, second = make(name="first", namespace="a"), make(name="second")
    observe(first, collector.meter)
    observe(second, collector.meter)
    third = MemoryCache[str, int]()
    observe(third, collector.meter, name="third")
    first.namespace("nested").get("absent")
    tier = "memory" if first.path is None else "host"
    values = collector.values()
    assert values[reads("first", tier, "miss")] == 1
    assert values[reads("second", tier, "miss")] == 0
    assert values[reads("third", "memory", "miss")] == 0


def test_the_name_is_the_namespace_and_covers_what_is_nested(make: Make) -> None:
    assert make().name == "default"
    cache = make(namespace=["shop", "eu"])
    assert cache.name == cache.namespace("user 17").name == "shop::eu"
    named = make(namespace="shop", name="")
    assert named.name == named.namespace("eu").name == ""
    assert AsyncCache.over(named).namespace("eu").name == ""
    with pytest.raises(InvalidArgument, match="name is text"):
        make(name=5)


def test_an_unpickled_cache_has_its_name(tmp_path: Path) -> None:
    import pickle

    cache = Cache(tmp_path, namespace="shop")
    for one in (cache, cache.namespace("eu")):
        assert pickle.loads(pickle.dumps(one)).name == "shop"


def test_closing_ends_the_metrics_and_not_the_cache(make: Make, collector: Collector) -> None:
    cache = make()
    with observe(cache, collector.meter) as observed:
        cache.get_or_set("a", lambda: 1)
        assert collector.values()[loads("loaded")] == 1
    observed.close()
    cache.get_or_set("b", lambda: 1)
    values = collector.values()
    assert values[loads("loaded")] == 1
    assert "polycache.reads" not in {name for name, _ in values}
    assert cache._observers.listeners == ()
    observe(cache, collector.meter)
    assert "polycache.reads" in collector.metrics()


def test_a_closed_cache_yields_nothing(
    make: Make, collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    cache, other = make(), MemoryCache[str, int]()
    observe(cache, collector.meter, name="closed")
    observe(other, collector.meter, name="open")
    cache.close()
    names = {dict(labels)["cache.name"] for _, labels in collector.values()}
    assert names == {"open"}
    assert caplog.records == []
    assert len(metrics._of_meters[collector.meter].sources) == 1


def test_metrics_hold_no_cache(make: Make, collector: Collector) -> None:
    root = make()
    nested = root.namespace("nested")
    observe(root, collector.meter)
    observe(MemoryCache(), collector.meter, name="gone")
    del root
    gc.collect()
    assert {dict(of)["cache.name"] for _, of in collector.values()} == {"default"}
    del nested
    gc.collect()
    assert collector.values() == {}
    assert metrics._of_meters[collector.meter].sources == ()


def test_what_is_no_cache_is_refused(collector: Collector) -> None:
    with pytest.raises(InvalidArgument, match="observe takes a cache, not dict"):
        observe({}, collector.meter)  # type: ignore[arg-type]


def test_a_forked_child_goes_on(make: Make, collector: Collector) -> None:
    cache = make()
    observe(cache, collector.meter)
    with metrics._lock:  # As another thread may.
        child = os.fork()
        if child == 0:
            os._exit(child_works(cache, collector))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def child_works(cache: Cache, collector: Collector) -> int:
    try:
        observe(MemoryCache[str, int](), collector.meter, name="of the child")
        cache.get_or_set("a", lambda: 1)
        source = metrics._of_meters[collector.meter].sources[0]
        source.measured("polycache.reads")
        cache.close()
        return 0
    except BaseException:
        return 1


def test_only_those_who_observe_need_opentelemetry() -> None:
    program = """
import sys
import polycache
cache = polycache.Cache()
cache.get_or_set("a", lambda: 1)
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
sys.modules["opentelemetry"] = None
try:
    import polycache.opentelemetry
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert 'pip install "polycache[opentelemetry]"' in done.stdout
