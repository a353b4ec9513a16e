"""get_or_set_many: one loader call for what is missing, by the rules of get_or_set for each key."""

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import HOLDER, LIMIT, answer, full_of_leases, python, tell, together, until, waiting
from many_loads import KINDS, Loader, Slow, caches

from polycache import MISSING, Cache, InvalidArgument, MemoryCache, WaitTimeout


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest, directory: Path) -> Iterator[Callable[..., Any]]:
    """Makes a cache of some kind."""
    with caches(request.param, directory) as make:
        yield make


def never(keys: list[Any]) -> dict[Any, Any]:
    raise AssertionError(f"this loader must not run: {keys}")


def test_the_loader_is_asked_once_for_what_is_missing(made: Callable[..., Any]) -> None:
    cache = made()
    cache.set("b", "set")
    loader = Loader()
    found = cache.get_or_set_many(iter(["a", "b", "c", "a"]), loader, ttl="1h")
    assert list(found.items()) == [("a", "A"), ("b", "set"), ("c", "C")]
    assert loader.asked == [["a", "c"]]
    assert cache.get_or_set_many(["c", "a"], never) == {"c": "C", "a": "A"}
    assert 3590 < cache.ttl("a") <= 3600 and cache.ttl("b") == float("inf")
    assert cache.get_or_set_many([], never) == {}


@pytest.mark.parametrize("in_memory", [False, True])
def test_each_form_of_a_key_is_given_a_value_of_its_own(directory: Path, in_memory: bool) -> None:
    forms: list[Any] = ["é", "é".encode(), "é"]
    with Cache() if in_memory else Cache(directory, limit="4MiB") as cache:
        for _ in range(2):
            found = cache.get_or_set_many(forms, lambda keys: {key: [["x"]] for key in keys})
            text, encoded = found["é"], found["é".encode()]
            assert len(found) == 2 and text == encoded == [["x"]]
            assert text is not encoded and text[0] is not encoded[0]
        functions: list[Any] = ["f", b"f"]
        lacks = cache.get_or_set_many(functions, lambda keys: dict.fromkeys(keys, never))
        assert lacks == {"f": never, b"f": never}


def test_a_invalidate_load_is_counted() -> None:
    cache: MemoryCache[str, int] = MemoryCache()

    def load(keys: list[str]) -> dict[str, int]:
        cache.delete("a")
        return dict.fromkeys(keys, 1)

    assert cache.get_or_set_many(["a", "b"], load) == {"a": 1, "b": 1}
    assert (cache.stats().invalidated_loads, cache.stats().writes, "a" in cache) == (1, 1, False)


def test_a_key_that_is_left_out_is_missing(made: Callable[..., Any]) -> None:
    cache = made()
    assert cache.get_or_set_many(["a", "b"], Loader(without="b")) == {"a": "A"}
    assert not cache.has("b")
    assert cache.get_or_set("b", lambda: "now") == "now"


@pytest.mark.parametrize(
    "returned", [{"a": 1, "x": 2}, [("a", 1)], None, {7: 1}, {"": 1}], ids=repr
)
def test_what_the_loader_may_not_return(made: Callable[..., Any], returned: Any) -> None:
    cache = made()
    with pytest.raises(InvalidArgument, match="loader"):
        cache.get_or_set_many(["a", "b"], lambda _: returned)
    assert cache.get_many(["a", "b", "x"]) == {}


def test_wrong_arguments_load_nothing(made: Callable[..., Any]) -> None:
    cache = made()
    cache.set("a", 1)
    for keys, ttl in [("ab", MISSING), (b"ab", MISSING), (["a"], "soon"), (["a"], -1)]:
        with pytest.raises(InvalidArgument):
            cache.get_or_set_many(keys, never, ttl=ttl)

    async def load(keys: list[Any]) -> dict[Any, Any]:
        return {}

    with pytest.raises(InvalidArgument, match="coroutine"):
        cache.get_or_set_many(["b"], load)


def test_text_and_its_bytes_are_one_key(cache: Cache) -> None:
    keys: list[Any] = [b"a", "a", b"\xff"]

    def load(asked: list[Any]) -> dict[Any, Any]:
        assert asked == [b"a", b"\xff"]
        # By either name.
        return {"a": 1, b"\xff": 2}

    assert cache.get_or_set_many(keys, load) == {b"a": 1, "a": 1, b"\xff": 2}
    assert cache.get_or_set_many(keys, never) == {b"a": 1, "a": 1, b"\xff": 2}


def test_keys_of_any_class() -> None:
    cache: MemoryCache[Any, int] = MemoryCache()
    assert cache.get_or_set_many([(1, 2), 1, 1.0], lambda keys: dict.fromkeys(keys, 7)) == {
        (1, 2): 7,
        1: 7,
    }
    with pytest.raises(TypeError, match="unhashable"):
        cache.get_or_set_many([[]], never)


def test_of_many_callers_one_loads_a_key(made: Callable[..., Any]) -> None:
    cache = made()
    slow = Slow()

    def joins() -> Any:
        assert slow.begun.wait(LIMIT)
        mine = Loader()
        found = cache.get_or_set_many(["b", "c", "d"], mine)
        # It loaded its own part while the other loader ran, and waited only then.
        assert mine.asked == [["d"]]
        return found

    def finish() -> None:
        assert slow.begun.wait(LIMIT)
        until(lambda: cache.has("d"))
        waiting(cache, 3)
        slow.finish.set()

    found = together(
        lambda: cache.get_or_set_many(["a", "b", "c"], slow), joins, joins_one(cache, slow), finish
    )
    assert found[:3] == [
        {"a": "A", "b": "B", "c": "C"},
        {"b": "B", "c": "C", "d": "D"},
        "B",
    ]
    assert slow.asked == [["a", "b", "c"]]


def joins_one(cache: Any, slow: Slow) -> Callable[[], Any]:
    """A caller of one key, among those that it loads."""

    def join() -> Any:
        assert slow.begun.wait(LIMIT)
        return cache.get_or_set("b", lambda: "this loader must not run")

    return join


def test_an_error_is_that_of_all_who_joined(made: Callable[..., Any]) -> None:
    cache = made()
    slow = Slow(fails=True)

    def fails(keys: list[str], loader: Any) -> str:
        with pytest.raises(ZeroDivisionError):
            cache.get_or_set_many(keys, loader)
        return "failed"

    def joins() -> str:
        assert slow.begun.wait(LIMIT)
        return fails(["b", "c"], Loader())

    def finish() -> None:
        assert slow.begun.wait(LIMIT)
        waiting(cache, 1)
        slow.finish.set()

    assert together(lambda: fails(["a", "b"], slow), joins, finish)[:2] == ["failed"] * 2
    # What it had loaded before it waited stays.
    assert cache.get_many(["a", "b", "c"]) == {"c": "C"}


def test_what_is_left_out_is_absent_for_all_callers_of_many(made: Callable[..., Any]) -> None:
    cache = made()
    slow, mine = Slow(without="bc"), Loader()
    ones: list[str] = []

    def many() -> Any:
        assert slow.begun.wait(LIMIT)
        return cache.get_or_set_many(["a", "b"], mine)

    def alone() -> str:
        ones.append("c")
        return "alone"

    def one() -> Any:
        assert slow.begun.wait(LIMIT)
        return cache.get_or_set("c", alone)

    def finish() -> None:
        assert slow.begun.wait(LIMIT)
        waiting(cache, 3 * 2 + 2)
        slow.finish.set()

    first = lambda: cache.get_or_set_many(["a", "b", "c"], slow)  # noqa: E731
    found = together(first, many, many, many, one, one, finish)
    assert found[:6] == [{"a": "A"}] * 4 + ["alone"] * 2
    # Nobody loads "b", and one loads "c" for all who want it alone.
    assert (mine.asked, ones) == ([], ["c"])
    assert not cache.has("b")


class Interrupted(Slow):
    """Ends without a value, and without an error for callers that joined."""

    def __call__(self, keys: list[Any]) -> dict[Any, str]:
        super().__call__(keys)
        raise KeyboardInterrupt


def test_what_falls_to_a_caller_that_waits_is_loaded_while_others_load(
    made: Callable[..., Any],
) -> None:
    cache = made()
    slow, interrupted, mine = Slow(), Interrupted(), Loader()

    def interrupts() -> None:
        with pytest.raises(KeyboardInterrupt):
            cache.get_or_set_many(["b", "c"], interrupted)

    def joins() -> Any:
        assert slow.begun.wait(LIMIT) and interrupted.begun.wait(LIMIT)
        return cache.get_or_set_many(["a", "b", "c", "d"], mine)

    def finish() -> None:
        assert slow.begun.wait(LIMIT)
        waiting(cache, 3)
        interrupted.finish.set()
        try:
            until(lambda: cache.has("b"))
        finally:
            slow.finish.set()

    found = together(lambda: cache.get_or_set_many(["a"], slow), interrupts, joins, finish)
    assert found[0] == {"a": "A"} and found[2] == {key: key.upper() for key in "abcd"}
    assert mine.asked == [["d"], ["b", "c"]]


def test_what_falls_free_while_another_process_loads_is_loaded_at_once(cache: Cache) -> None:
    interrupted, mine = Interrupted(), Loader()

    def interrupts() -> None:
        with pytest.raises(KeyboardInterrupt):
            cache.get_or_set_many(["b"], interrupted)

    with python(HOLDER, cache.path) as holder:
        assert answer(holder) == "loading"

        def finish() -> None:
            until(lambda: cache.has("a"))
            waiting(cache, 1)
            interrupted.finish.set()
            try:
                until(lambda: cache.has("b"))
            finally:
                tell(holder, "theirs")

        def joins() -> Any:
            assert interrupted.begun.wait(LIMIT)
            return cache.get_or_set_many(["k", "a", "b"], mine)

        found, *_ = together(joins, interrupts, finish)
        assert found == {"k": "theirs", "a": "A", "b": "B"} and mine.asked == [["a"], ["b"]]
        assert answer(holder) == "theirs"


def test_a_caller_waits_for_no_lease_of_its_own_process(directory: Path) -> None:
    # The first wait would be an error. So many keys that some look alike as leases.
    cache = Cache(directory, limit="2MiB", wait_timeout="1ms")
    other = Cache(directory, wait_timeout="1ms")
    calls = 0

    def load(keys: list[str]) -> dict[str, int]:
        nonlocal calls
        calls += 1
        for key in keys:
            for inner in (cache, other):
                assert inner.get_or_set(f"inner {inner is other} {key}", lambda: 7) == 7
        return dict.fromkeys(keys, 1)

    keys = [f"key {number}" for number in range(8_000)]
    assert cache.get_or_set_many(keys, load) == dict.fromkeys(keys, 1)
    assert calls == 1
    assert (cache.check().leases, cache.stats().wait_timeouts) == (0, 0)


def test_a_change_during_the_load_wins_for_its_key(made: Callable[..., Any]) -> None:
    cache = made()

    def load(keys: list[str]) -> dict[str, str]:
        cache.set("a", "set")
        cache.delete("b")
        return {key: "loaded" for key in keys}

    loaded = cache.get_or_set_many(["a", "b", "c"], load)
    assert loaded == {"a": "loaded", "b": "loaded", "c": "loaded"}
    assert cache.get_many(["a", "b", "c"]) == {"a": "set", "c": "loaded"}


def test_a_loader_that_asks_for_a_key_of_its_own_is_told(made: Callable[..., Any]) -> None:
    cache = made()
    asks: list[Callable[[list[str]], Any]] = [
        lambda keys: cache.get_or_set("b", lambda: 1),
        lambda keys: cache.get_or_set_many(["x", "b"], Loader()),
    ]
    for ask in asks:
        with pytest.raises(InvalidArgument, match="same key"):
            cache.get_or_set_many(["a", "b"], ask)
    with pytest.raises(InvalidArgument, match="same key"):
        cache.get_or_set("a", lambda: cache.get_or_set_many(["a"], Loader()))
    # Other keys it may ask for.
    found = cache.get_or_set_many(["a"], lambda keys: cache.get_or_set_many(["y"], Loader()) and {})
    assert found == {} and cache.get("y") == "Y"


def test_loaders_that_ask_for_each_others_keys_end(made: Callable[..., Any]) -> None:
    cache = made()
    both = threading.Barrier(2)

    def call(mine: str, other: str) -> Any:
        def load(keys: list[str]) -> dict[str, str]:
            both.wait(LIMIT)
            inner = cache.get_or_set_many(
                [other, "x" + mine], lambda keys: dict.fromkeys(keys, "inner")
            )
            return {key: key + inner[other] for key in keys}

        return cache.get_or_set_many([mine], load)

    found = together(lambda: call("a", "b"), lambda: call("b", "a"))
    assert [list(one) for one in found] == [["a"], ["b"]]
    assert cache.get_many(["xa", "xb"]) == {"xa": "inner", "xb": "inner"}


def test_waiting_is_bounded(made: Callable[..., Any]) -> None:
    cache = made(wait_timeout="1ms")
    slow = Slow()

    def waits() -> None:
        assert slow.begun.wait(LIMIT)
        with pytest.raises(WaitTimeout):
            cache.get_or_set_many(["a", "b"], Loader())
        assert cache.stats().wait_timeouts == 1
        slow.finish.set()

    together(lambda: cache.get_or_set_many(["a"], slow), waits)
    # It had loaded its own.
    assert cache.get("b") == "B"


def test_a_load_that_takes_too_long_is_overtaken(made: Callable[..., Any]) -> None:
    cache = made(lease_timeout="63ms")
    slow, mine = Slow(), Loader()

    def overtakes() -> Any:
        assert slow.begun.wait(LIMIT)
        found = cache.get_or_set_many(["a", "b"], mine)
        slow.finish.set()
        return found

    found = together(lambda: cache.get_or_set_many(["a"], slow), overtakes)
    assert found == [{"a": "A"}, {"a": "A", "b": "B"}]
    assert mine.asked == [["b"], ["a"]]


def test_an_interrupt_frees_the_keys(made: Callable[..., Any]) -> None:
    cache = made()

    def interrupt(keys: list[str]) -> dict[str, str]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.get_or_set_many(["a", "b"], interrupt)
    assert cache._loads() == []
    assert cache.get_or_set_many(["a", "b"], Loader()) == {"a": "A", "b": "B"}


class Stopped(StopIteration):
    """What generators and drivers of them take for an end."""


def test_a_loader_may_raise_anything(made: Callable[..., Any]) -> None:
    cache = made()

    def stop(keys: list[str]) -> dict[str, str]:
        raise Stopped

    with pytest.raises(Stopped):
        cache.get_or_set_many(["a"], stop)
    assert cache._loads() == []


def test_values_that_cannot_be_stored(
    made: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    lock = threading.Lock()

    def load(keys: list[str]) -> dict[str, Any]:
        return {key: lock if key == "a" else key for key in keys}

    cache = made()
    with caplog.at_level(logging.WARNING, "polycache"):
        found = cache.get_or_set_many(["a", "b"], load)
    assert found == {"a": lock, "b": "b"} and cache.stats().unstored == 1
    assert len(caplog.records) == 1
    raising = made(store_errors="raise")
    raising.delete("b")
    with pytest.raises(TypeError) as failure:
        raising.get_or_set_many(["a", "b"], load)
    assert failure.value.code == "unsupported_value"  # type: ignore[attr-defined]
    # The others are stored.
    assert raising.get_many(["a", "b"]) == {"b": "b"}


def test_without_room_for_a_lease_a_value_is_loaded_and_not_stored(cache: Cache) -> None:
    with full_of_leases(cache) as key:
        assert cache.get_or_set_many([key], Loader()) == {key: key.upper()}
        assert key not in cache


def test_a_process_waits_for_another_s_load(cache: Cache) -> None:
    mine = Loader()
    with python(HOLDER, cache.path) as holder:
        assert answer(holder) == "loading"

        def finish() -> None:
            until(lambda: cache.has("a"))
            tell(holder, "from the holder")

        found, _ = together(lambda: cache.get_or_set_many(["k", "a"], mine), finish)
        assert found == {"k": "from the holder", "a": "A"} and mine.asked == [["a"]]
        assert answer(holder) == "from the holder"


def test_a_killed_holder_s_key_falls_to_one_that_waits(cache: Cache) -> None:
    mine = Loader()
    with python(HOLDER, cache.path) as holder:
        assert answer(holder) == "loading"

        def kill() -> None:
            until(lambda: cache.has("a"))
            holder.kill()
            holder.wait(LIMIT)

        found, _ = together(lambda: cache.get_or_set_many(["k", "a"], mine), kill)
    assert found == {"k": "K", "a": "A"} and mine.asked == [["a"], ["k"]]


COUNTING = """
import sys, polycache
def loader(keys):
    with open(sys.argv[2], "a") as log:
        log.write("".join(f"{key}\\n" for key in keys))
    return {key: key for key in keys}
cache = polycache.Cache(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for first in range(0, 200, 5):
    keys = [f"k{first + number}" for number in range(9)]
    assert cache.get_or_set_many(keys, loader) == {key: key for key in keys}
print("done", flush=True)
"""


def test_processes_load_each_key_once(cache: Cache, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with (
        python(COUNTING, cache.path, log) as first,
        python(COUNTING, cache.path, log) as second,
        python(COUNTING, cache.path, log) as third,
    ):
        processes = first, second, third
        assert [answer(process) for process in processes] == ["ready"] * 3
        for process in processes:
            tell(process)
        assert [answer(process) for process in processes] == ["done"] * 3
    assert sorted(log.read_text().split()) == sorted(f"k{number}" for number in range(204))


def test_threads_with_overlapping_keys(made: Callable[..., Any]) -> None:
    cache = made()
    loads: list[str] = []

    def load(keys: list[str]) -> dict[str, str]:
        loads.extend(keys)
        return {key: key for key in keys}

    def work(step: int) -> None:
        for first in range(100):
            keys = [str((first * step + number) % 101) for number in range(7)]
            assert cache.get_or_set_many(keys, load) == {key: key for key in keys}

    together(*[lambda step=step: work(step) for step in (1, 2, 3, 5)])
    assert len(loads) == len(set(loads))
