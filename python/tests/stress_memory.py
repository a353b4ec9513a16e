"""Threads on MemoryCache and on the memory tier, with keys, values and listeners whose code uses
the cache that calls it. Of the standard library alone, so that any interpreter can run it:

    python tests/stress_memory.py [operations of a thread]

It prints "ok", or fails. `test_interpreter_versions.py` runs it on those that it finds.
"""

import gc
import sys
import tempfile
import threading
from functools import partial
from typing import Any

from polycache import Cache, MemoryCache

THREADS = 6
# Threads take turns far more often than usual.
sys.setswitchinterval(1e-5)


class Key:
    """Many of one hash, compared by code that uses the cache."""

    cache: "MemoryCache[Any, Any] | None" = None

    def __init__(self, name: int) -> None:
        self.name = name

    def __hash__(self) -> int:
        return self.name % 2

    def __eq__(self, other: object) -> bool:
        if Key.cache is not None and self.name == 3:
            Key.cache.get("plain")
        return isinstance(other, Key) and other.name == self.name


class Value:
    """Knows its key, and uses the cache when it goes."""

    def __init__(self, key: object) -> None:
        self.key = key
        # A cycle, for the garbage collector.
        self.me = self

    def __del__(self) -> None:
        if Key.cache is not None:
            Key.cache.peek("plain")
            Key.cache.pop("of values", None)


def told(key: object, value: Value, cause: str) -> None:
    assert key == value.key, cause
    if Key.cache is not None:
        Key.cache.get(key)


def use(cache: "MemoryCache[Any, Any]", seed: int, operations: int) -> None:
    for number in range(operations):
        place = (number * (2 * seed + 1) + seed) % 23
        key: Any = (Key(place), place, str(place), ("t", place, str(place)))[place % 4]
        action = (number + seed) % 11
        if action < 2:
            cache[key] = Value(key)
        elif action == 2:
            cache.pop(key, None)
        elif action == 3:
            assert cache.get_or_set(key, partial(Value, key)).key == key
        elif action == 4:
            assert cache.setdefault(key, Value(key)).key == key
        elif action == 5 and number % 97 == 0:
            cache.clear()
        elif action == 6 and number % 89 == 0:
            for found, value in cache.items():
                assert found == value.key
            gc.collect()
        else:
            value = cache.get(key)
            assert value is None or value.key == key
        assert len(cache) <= 15


def alone(operations: int, **options: Any) -> None:
    cache: MemoryCache[Any, Any] = MemoryCache(15, **options)
    Key.cache = cache
    together(lambda seed: use(cache, seed, operations))
    names = [key.name for key in cache if isinstance(key, Key)]
    assert len(names) == len(set(names)), "two entries of one key"
    Key.cache = None
    cache.clear()
    assert len(cache) == 0


def over_host(operations: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        caches = [Cache(directory, limit="4MiB"), Cache(directory)]
        written = [0] * THREADS

        def work(seed: int) -> None:
            mine, other = caches[seed % 2], caches[(seed + 1) % 2]
            for number in range(1, operations // 4):
                mine.set(str(seed), str(number))
                written[seed] = number
                assert other.get(str(seed)) == str(number), "an older value"
                least = written[number % THREADS]
                found = mine.get(str(number % THREADS))
                assert least == 0 or int(found) >= least, "an older value"

        together(work)
        for cache in caches:
            assert cache.stats().memory_hits > 0
            cache.close()


def together(work: Any) -> None:
    failures: list[BaseException] = []

    def run(seed: int) -> None:
        try:
            work(seed)
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=run, args=(seed,), daemon=True) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "threads wait for each other"
    assert not failures, failures


if __name__ == "__main__":
    unraised: list[Any] = []
    sys.unraisablehook = unraised.append
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    alone(count, removal_listener=told, isolation="none")
    # Without a listener writes go another way.
    alone(count, isolation="none")
    # Each value is copied when it is stored and when it is read.
    alone(count // 10)
    over_host(count)
    assert not unraised, unraised
    print("ok")
