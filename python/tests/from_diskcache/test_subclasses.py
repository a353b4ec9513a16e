"""Tags, expiries and numbers of classes that a database would take for its own, and what neither
takes."""

import enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest
from both import both, patched

import polycache
import polycache.diskcache as ours
from polycache.diskcache.store import Store


class Name(str, enum.Enum):  # noqa: UP042 (its text is "Name.A")
    A = "a"


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    def __str__(self) -> str:
        return "another"


class Data(bytes):
    pass


class Float(float):
    pass


@pytest.mark.parametrize(
    "tag", [Name.A, Number.ONE, True, Text("t"), Data(b"d"), Float(1.5), numpy.float64(2.5)]
)
def test_tags(tag: Any, tmp_path: Path) -> None:
    pair = both(tmp_path)
    pair.set("k", 1, tag=tag)
    pair.get("k", tag=True)
    pair.push("v", "q", tag=tag)
    pair.peek("q", tag=True)
    pair.evict(tag)
    pair.ask(len)


SECONDS = [
    numpy.float64(5), numpy.int64(5), Float(5), Number.ONE, True, Fraction(5, 2), float("inf"),
    float("nan"),
]  # fmt: skip


@pytest.mark.parametrize("seconds", SECONDS)
def test_expiries(seconds: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = patched(monkeypatch)
    pair = both(tmp_path, cull_limit=0)
    pair.set("set", 1, expire=seconds)
    pair.add("add", 1, expire=seconds)
    pair.push("pushed", "q", expire=seconds)
    pair.set("touched", 1)
    pair.touch("touched", seconds)
    for key in ("set", "add", "touched"):
        pair.get(key, expire_time=True)
    pair.peek("q", expire_time=True)
    clock.now += 6
    pair.ask(lambda one: [key for key in one if key in one])


@pytest.mark.parametrize("delta", [numpy.float64(2), Float(2), Number.ONE, True, Fraction(5, 2)])
def test_sums(delta: Any, tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    for key, start in (("whole", 1), ("float", 0.5)):
        cache[key] = start
        assert cache.incr(key, delta) == cache[key] == start + delta
        assert cache.decr(key, delta) == cache[key] == start
        assert cache.incr("new " + key, delta, default=start) == start + delta
        assert cache.incr("new " + key) == start + delta + 1


def test_numbers_whose_bytes_diskcache_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    cache = ours.Cache(tmp_path)
    kinds: list[Any] = [numpy.int64, numpy.uint64, numpy.uint8]
    for kind in kinds:
        cache["k"] = 1
        assert cache.incr("k", kind(2)) == cache["k"] == 3 and type(cache["k"]) is int
        assert cache.decr("k", kind(2)) == 1
    # Of a float32 the time would be known to two minutes.
    seconds: Any = numpy.float32(5)
    cache.set("k", 1, expire=seconds)
    assert cache.get("k", expire_time=True) == (1, clock.now + 5)


REFUSED: list[Any] = [
    lambda cache: cache.set("k", 1, tag=[1]),
    lambda cache: cache.set("k", 1, tag="\ud800"),
    lambda cache: cache.set("k", "\ud800"),
    lambda cache: cache.set("k", ["\ud800"]),
    lambda cache: cache.set("k", object()),
    lambda cache: cache.add("new", 1, expire="5"),
    lambda cache: cache.touch("k", "5"),
    lambda cache: cache.incr("n", 1j),
    lambda cache: cache.incr("new", 1j),
    lambda cache: cache.push("v", tag=b"".join),
    lambda cache: cache.push("\ud800"),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused_is_so_at_once_and_mends_nothing(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ours.Cache(tmp_path)
    cache["k"], cache["n"] = "old", 1
    mended: list[int] = []
    monkeypatch.setattr(Store, "mend", lambda _: mended.append(1))
    with pytest.raises((polycache.PolycacheError, TypeError)):
        call(cache)
    with cache.transact():
        cache["other"] = 1
        with pytest.raises((polycache.PolycacheError, TypeError)):
            call(cache)
        cache["last"] = 1
    assert not mended
    assert [(key, cache[key]) for key in cache] == [
        ("k", "old"), ("n", 1), ("other", 1), ("last", 1)
    ]  # fmt: skip
    assert cache.check() == []
