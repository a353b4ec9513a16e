"""Many threads on one handle."""

import random
import threading
from pathlib import Path
from typing import Any

from helpers import together

from polycache import MISSING, Cache, Closed

OPERATIONS = 3000


def value_for(key: str, number: int) -> Any:
    return {"key": key, "number": number, "filling": "x" * (number % 5000)}


def test_no_thread_sees_a_foreign_or_torn_value(directory: Path) -> None:
    # So small that blocks are recycled, compressed so that the GIL is let go of in between.
    with Cache(directory, limit="2MiB", compressor="zstd:1") as cache:

        def work(seed: int) -> None:
            chance = random.Random(seed)
            for number in range(OPERATIONS):
                key = f"k{chance.randrange(64)}"
                match chance.randrange(8):
                    case 0:
                        cache.delete(key)
                    case 1 | 2:
                        cache.set(key, value_for(key, number))
                    case 3:
                        found = cache.get_or_set(key, lambda k=key, n=number: value_for(k, n))  # type: ignore[misc]
                        assert found == value_for(key, found["number"])
                    case 4 if number % 50 == 0:
                        assert set(cache.keys()) <= {f"k{place}" for place in range(64)}
                    case _:
                        found = cache.get(key, MISSING)
                        assert found is MISSING or found == value_for(key, found["number"])

        together(*[lambda seed=seed: work(seed) for seed in range(4)])
        assert cache.check().damaged == []


def test_closing_under_the_readers(directory: Path) -> None:
    cache = Cache(directory, limit="4MiB")
    cache.set("k", "v" * 1000)
    reading = threading.Barrier(4)

    def read() -> None:
        reading.wait()
        try:
            while True:
                assert cache.get("k") == "v" * 1000
                cache.set("other", "w" * 1000)
        except Closed:
            pass

    def close() -> None:
        reading.wait()
        cache.close()

    together(read, read, read, close)
