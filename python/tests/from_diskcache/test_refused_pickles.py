"""Nothing is unpickled that nobody asked for, or that somebody changed."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from both import SECRET

import polycache
import polycache.diskcache as diskcache
from polycache.diskcache.keys import compound_code, key_of, raw_code, sorting
from polycache.diskcache.pickling import Pickling, value_of
from polycache.diskcache.store import MODE, VALUE, place_name, row_name

OTHER = b"another secret, which nobody should have used"


@dataclass(frozen=True)
class Point:
    x: int
    y: int


class Bomb:
    """Unpickling one is noticed."""

    exploded = False

    def __reduce__(self) -> Any:
        return _explode, ()


def _explode() -> str:
    Bomb.exploded = True
    return "exploded"


@pytest.fixture(autouse=True)
def unexploded() -> Any:
    Bomb.exploded = False
    yield
    diskcache.use_pickle(None)


def test_what_is_not_in_the_type_map_says_how_to_ask_for_pickle(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    cache["k"] = "old"
    for refused in (Point(1, 2), {1: 2}, [object()], {"a": {"b": Point(1, 2)}}):
        with pytest.raises(diskcache.PickleNeeded, match=r"pickle_secret=.*use_pickle") as error:
            cache["k"] = refused
        assert isinstance(error.value, polycache.UnsupportedValue)
        assert isinstance(error.value, TypeError)
    assert error.value.path == "$.a.b" and "at $.a.b:" in str(error.value)
    with pytest.raises(diskcache.PickleNeeded, match=r"Point without pickle.*use_pickle"):
        cache[Point(1, 2)] = 1
    assert cache["k"] == "old" and len(cache) == 1
    assert cache.check() == []


def test_values_of_the_type_map_need_no_pickle(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    values = [
        None, True, 1, 2**70, 1.5, "t", b"b", [1, [2]], {"a": {"b": None}}, {1, 2}, Decimal("1.50"),
        UUID(int=7), datetime(2024, 1, 2, tzinfo=UTC),
    ]  # fmt: skip
    for value in values:
        cache["k"] = value
        assert cache["k"] == value and type(cache["k"]) is type(value)
    cache["k"] = (1, (2, 3))
    assert cache["k"] == [1, [2, 3]]


@pytest.mark.parametrize("value", [frozenset([1]), bytearray(b"x"), memoryview(b"x")])
def test_a_value_does_not_come_back_as_another(value: Any, tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    for held in (value, [value], {"a": [1, {"b": value}]}, (value,)):
        with pytest.raises(diskcache.PickleNeeded, match=f"{type(value).__name__} .*use_pickle"):
            cache["k"] = held
    assert len(cache) == 0
    if not isinstance(value, memoryview):  # Pickle has none either.
        pickled = diskcache.Cache(tmp_path, pickle_secret=SECRET)
        pickled["k"] = [value]
        assert pickled["k"] == [value] and type(pickled["k"][0]) is type(value)


def test_a_value_is_the_cache_s_own(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    inner = {"set": {1}, "list": [1]}
    value = [inner, (1, 2)]
    with cache.transact():
        cache["k"] = value
        inner["list"].append(2)  # type: ignore[attr-defined]
        read = cache["k"]
        assert read == [{"set": {1}, "list": [1]}, [1, 2]]  # As it is after the block.
        read[0]["list"].append(3)
    assert cache["k"] == [{"set": {1}, "list": [1]}, [1, 2]]


def test_keys_of_the_type_map_come_back_as_they_were(tmp_path: Path) -> None:
    keys: list[Any] = [
        None, True, 1, 2**70, -(2**70), 1.5, -0.5, float("inf"), "t", b"t", ("t",), (b"t", (None,)),
        Decimal("1.50"), UUID(int=7), datetime(2024, 1, 2, tzinfo=UTC), frozenset([1, "a"]), (1.0,),
        ((),), "long" * 1000, ("f", (1, [2, {"a": {3}}]), None),
    ]  # fmt: skip
    cache = diskcache.Cache(tmp_path)
    for number, key in enumerate(keys):
        cache[key] = number
    assert list(cache) == keys
    assert [type(key) for key in cache] == [type(key) for key in keys]
    assert [cache[key] for key in keys] == list(range(len(keys)))
    assert cache[1.0] == cache[1] and cache.get((1,)) is None
    numbers = [float("-inf"), -(2**63), -3.5, -2, -1.5, -0.0, 0.25, 7, 2**53 + 1, 2**62, 1e300]
    codes = [raw_code(number) for number in numbers]
    assert sorted(codes, key=sorting) == codes  # type: ignore[arg-type]


def test_a_key_is_not_read_from_damaged_bytes() -> None:
    whole = compound_code(("f", 1, [b"x", {"a": None}], 1.5, Decimal(1)))
    for end in range(1, len(whole)):
        with pytest.raises(polycache.MalformedEntry):
            key_of(whole[:end])
    for damaged in (whole + b"N", b"c{\0\0\0\1[\0\0\0\0N", b"c?", b"?", b"c" + b"[\0\0\0\1" * 200):
        with pytest.raises(polycache.MalformedEntry):
            key_of(damaged)


def test_anything_is_pickled_with_a_secret_and_read_with_no_other(tmp_path: Path) -> None:
    with diskcache.Cache(tmp_path, pickle_secret=SECRET) as cache:
        cache[Point(1, 2)] = {1: Point(3, 4), 2: (5, (6,))}
        cache["large"] = (Point(1, 1), "x" * 100_000)
        cache["plain"] = "text"
        assert cache[Point(1, 2)] == {1: Point(3, 4), 2: (5, (6,))}
        assert list(cache) == [Point(1, 2), "large", "plain"]
        assert cache.pop("large") == (Point(1, 1), "x" * 100_000)
        cache["large"] = [1]
    without = diskcache.Cache(tmp_path)
    assert without["plain"] == "text" and len(without) == 3
    for use in (lambda: without["large"], lambda: list(without), lambda: without.pop("large")):
        with pytest.raises(diskcache.PickleNeeded, match="use_pickle"):
            use()
    assert "large" in without
    wrong = diskcache.Cache(tmp_path, pickle_secret=OTHER)
    for use in (lambda: wrong["large"], lambda: list(wrong)):
        with pytest.raises(diskcache.InvalidSeal):
            use()


def test_secrets_can_be_changed(tmp_path: Path) -> None:
    diskcache.Cache(tmp_path, pickle_secret=OTHER).set(Point(1, 1), (1, Point(2, 2)))
    both = diskcache.Cache(tmp_path, pickle_secret=[SECRET, OTHER])
    assert both[Point(1, 1)] == (1, Point(2, 2)) and list(both) == [Point(1, 1)]
    both[Point(1, 1)] = (2,)
    assert diskcache.Cache(tmp_path, pickle_secret=SECRET)[Point(1, 1)] == (2,)


@pytest.mark.parametrize("secret", ["short", b"", [], b"fifteen bytes !"])
def test_a_secret_is_long_enough(secret: Any, tmp_path: Path) -> None:
    with pytest.raises(polycache.InvalidArgument, match="at least 16 bytes"):
        diskcache.Cache(tmp_path, pickle_secret=secret)
    with pytest.raises(polycache.InvalidArgument, match="at least 16 bytes"):
        diskcache.use_pickle(secret)


@pytest.mark.parametrize("secret", [bytearray(SECRET), [99], 99, [None], {"a": SECRET}])
def test_a_secret_is_bytes_or_text(secret: Any) -> None:
    # bytes(99) is 99 zeros, which everybody knows.
    with pytest.raises(polycache.InvalidArgument, match="bytes or text"):
        diskcache.use_pickle(secret)


def forge(cache: diskcache.Cache, key: Any, change: Callable[[bytes], bytes]) -> None:
    """Writes past the cache, as another program with access to the directory could."""
    data = cache._opened().data
    name = row_name(cache._code(key)[0])
    row = data.get(name)
    row[VALUE] = change(row[VALUE])
    data.set(name, row)


def test_forged_changed_truncated_and_moved_values_are_refused(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path, pickle_secret=SECRET)
    bomb = pickle.dumps(Bomb())
    cache["k"] = (1, 2)
    sealed = cache._opened().row(cache._code("k")[0])[VALUE]  # type: ignore[index]
    stranger = Pickling(OTHER)
    forgeries = [
        bomb,
        b"",
        b"\0" * 32,
        b"\0" * 32 + bomb,
        sealed[:32] + bomb,
        sealed[:32],
        sealed[:31],
        sealed[:-1],
        sealed + b"\0",
        sealed[1:],
        stranger.sealed(bomb, value_of(cache._code("k")[0])),
        # Sealed with the right secret, but for another key, and as a key.
        Pickling(SECRET).sealed(bomb, value_of(cache._code("other")[0])),
        Pickling(SECRET).sealed(bomb, b"key"),
    ]
    forgeries += [
        sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in range(len(sealed))
    ]
    for forged in forgeries:
        forge(cache, "k", lambda _, forged=forged: forged)  # type: ignore[misc]
        for use in (cache.get, cache.__getitem__, cache.pop):
            with pytest.raises(diskcache.InvalidSeal):
                use("k")
        with pytest.raises(diskcache.InvalidSeal):
            cache.peekitem()
    assert not Bomb.exploded
    forge(cache, "k", lambda _: sealed)
    assert cache["k"] == (1, 2)


def test_a_value_under_another_key_and_a_forged_key_are_refused(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path, pickle_secret=SECRET)
    data = cache._opened().data
    cache["admin"] = (True,)
    cache["guest"] = (False,)
    admin = data.get(row_name(b"sadmin"))
    forge(cache, "guest", lambda _: admin[VALUE])
    with pytest.raises(diskcache.InvalidSeal):
        cache.get("guest")
    cache.clear()
    cache["k"] = 1
    place = next(iter(cache._opened().places()))
    for seal in (None, b"\0" * 32, "\0" * 32, 0, True, [b""]):
        forged = [b"p" + pickle.dumps(Bomb()), seal]
        data.set(place_name(place), forged)
        with pytest.raises(diskcache.InvalidSeal):
            list(cache)
    assert not Bomb.exploded


def test_a_value_is_not_said_to_be_of_another_mode(tmp_path: Path) -> None:
    # What is not sealed is never unpickled, whatever the row says.
    cache = diskcache.Cache(tmp_path, pickle_secret=SECRET)
    cache["k"] = pickle.dumps(Bomb())
    data = cache._opened().data
    row = data.get(row_name(b"sk"))
    row[MODE] = 4
    data.set(row_name(b"sk"), row)
    with pytest.raises(diskcache.InvalidSeal):
        cache.get("k")
    assert not Bomb.exploded


def test_use_pickle_is_for_all_that_are_opened_later(tmp_path: Path) -> None:
    before = diskcache.Cache(tmp_path / "before")
    diskcache.use_pickle(SECRET)
    index: diskcache.Index[Any, Any] = diskcache.Index(str(tmp_path / "index"))
    index[Point(1, 2)] = (1,)
    deque = diskcache.Deque([Point(3, 4)], tmp_path / "deque")
    deque.reverse()
    fanout = diskcache.FanoutCache(tmp_path / "fanout")
    fanout.cache("c")["k"] = fanout["k"] = Point(5, 6)
    assert (index[Point(1, 2)], deque[0], fanout["k"]) == ((1,), Point(3, 4), Point(5, 6))
    assert pickle.loads(pickle.dumps(index)) == index
    with pytest.raises(diskcache.PickleNeeded):
        before["k"] = Point(1, 2)


def test_a_secret_is_not_pickled(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path, pickle_secret=SECRET)
    deque: diskcache.Deque[int] = diskcache.Deque.fromcache(cache)
    refused: list[Any] = [cache, deque, diskcache.Index.fromcache(cache)]
    for one in refused:
        with pytest.raises(polycache.InvalidArgument, match="use_pickle"):
            pickle.dumps(one)
    plain = diskcache.Cache(tmp_path)
    plain["k"] = 1
    assert pickle.loads(pickle.dumps(plain))["k"] == 1
    assert SECRET not in repr(cache).encode()
