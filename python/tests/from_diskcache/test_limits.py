"""Settings, size limits, culling, and damage."""

import os
from pathlib import Path
from typing import Any

import pytest
from both import both, patched

import polycache
import polycache.diskcache as diskcache
from polycache.diskcache.disk_space import OWN_BYTES
from polycache.diskcache.store import VALUE, place_name, row_name

MIB = 2**20


def used(folder: Path) -> int:
    return sum(
        os.stat(os.path.join(path, name)).st_blocks * 512
        for path, _, names in os.walk(folder)
        for name in names
    )


@pytest.mark.parametrize("size", [100, 3000, 50_000])
@pytest.mark.parametrize("policy", ["least-recently-stored", "least-recently-used"])
def test_the_directory_stays_below_its_limit(size: int, policy: str, tmp_path: Path) -> None:
    limit = 12 * MIB
    cache = diskcache.Cache(tmp_path, size_limit=limit, eviction_policy=policy)
    for number in range(3 * limit // (size + 500)):
        cache[f"key {number}"] = b"x" * size
        cache[f"key {number // 2}"] = b"y" * size
    assert cache.volume() <= limit
    assert used(tmp_path) <= limit
    assert len(cache) * (size + 400) > limit // 3  # And is used.
    assert len(list(cache)) == len(cache)
    assert cache.check() == []
    stats = cache._opened()._host.stats()
    assert stats.evicted_by_age == stats.evicted_by_conflict == 0


@pytest.mark.parametrize(
    ("policy", "gone"),
    [
        ("least-recently-stored", [1, 2, 3]),
        ("least-recently-used", [2, 3, 4]),
        ("least-frequently-used", [0, 2, 4]),
    ],
)
def test_what_goes_first(
    policy: str, gone: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    pair = both(tmp_path, eviction_policy=policy, cull_limit=3)
    for number in range(5):
        clock.now += 1
        pair.set(number, number)
    clock.now += 1
    pair.set(0, "stored again")
    for key in (1, 1, 3):
        clock.now += 1
        pair.get(key)
    clock.now += 1
    if policy == "least-frequently-used":
        pair.get(1)
    if policy == "least-recently-used":
        # Not a use for any other policy.
        pair.get(0)
        clock.now += 1
        pair.get(1)
    for one in (pair.theirs, pair.mine):
        one.reset("size_limit", 0)
    clock.now += 1
    pair.incr("more")
    remaining = pair.ask(list)
    assert [key for key in range(5) if key not in remaining] == gone


def test_none_evicts_nothing_and_says_when_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = diskcache.Cache(tmp_path, eviction_policy="none", size_limit=0)
    for number in range(1000):
        cache[number] = "x"
    assert len(cache) == 1000 and cache.cull() == 0
    cache._opened().limit = cache._opened().numbers.size + OWN_BYTES
    with pytest.raises(polycache.NoSpace, match="holds as much"):
        cache["more"] = 1
    assert "more" not in cache and len(cache) == 1000
    del cache[1]  # What makes room is not refused.
    assert cache.clear() == 999
    cache["more"] = 1


def test_writes_remove_what_has_expired(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = patched(monkeypatch)
    cache = diskcache.Cache(tmp_path)
    for number in range(100):
        cache.set(("short", number), "x" * 3000, expire=1)
    cache["long"] = 1
    clock.now += 2
    assert len(cache) == 101 == len(list(cache))
    for number in range(60):
        cache["long"] = number
    assert list(cache) == ["long"] and len(cache) == 1
    assert list(cache._opened().names(b"v")) == []


@pytest.mark.parametrize("policy", ["least-recently-stored", "least-recently-used", "none"])
def test_what_lives_stays_while_others_expire(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    cache = diskcache.Cache(tmp_path, size_limit=2 * MIB, eviction_policy=policy)
    cache["first"] = "lives"
    for number in range(500):
        cache["lives", number] = "x" * 200
    for number in range(10_000):
        clock.now += 1
        cache.set(number, "x" * 200, expire=(5, 30, 7)[number % 3])
        if number % 5 == 0:  # Holes in the order, and in the lines.
            cache.delete(number - 2)
        if number % 7 == 0:
            cache.touch(number - 3, 60)
    # At most a quarter of its time later a row is gone.
    assert 501 <= len(cache) == len(list(cache)) < 501 + 50
    assert cache["first"] == "lives" and all(("lives", number) in cache for number in range(500))
    assert cache.check() == []
    clock.now += 100
    for _ in range(10):
        cache["first"] = "lives"
    assert len(cache) == 501 and list(cache._opened().names(b"e")) == []


def test_what_expires_is_found_after_other_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    cache = diskcache.Cache(tmp_path)
    store = cache._opened()
    for number in range(20):
        cache.set("again", number, expire=1000)
        cache.set("gone", number, expire=1000)
        del cache["gone"]
        assert len(list(store.names(b"e"))) == 1 == store.numbers.expiring
    cache.set("later", 1, expire=10)
    cache.set("sooner", 1, expire=1000)
    cache.set("never", 1, expire=10)
    cache.set("late", 1)
    cache.touch("later", 1000)
    cache.touch("sooner", 10)
    cache.touch("never")
    cache.touch("late", 10)
    cache.set("past", 1, expire=-1)
    cache.set("for ever", 1, expire=float("inf"))
    assert cache.check() == []
    with pytest.raises(ZeroDivisionError), cache.transact():
        clock.now += 20
        cache["write"] = 1 / 0
    with cache.transact():
        cache["write"] = 1
    assert sorted(cache) == ["again", "for ever", "later", "never", "write"]
    assert store.numbers.expiring == 3 == len(list(store.names(b"e")))
    store.control.begin()  # As if its process had been killed.
    store.data.delete(next(store.names(b"e")))
    cache["write"] = 2
    assert store.numbers.expiring == 3 and cache.check() == []
    clock.now += 2000
    cache["write"] = 3
    assert sorted(cache) == ["for ever", "never", "write"] and cache.check() == []
    cache.clear()
    cache.set("k", 1, expire=1)
    clock.now += 2
    cache["write"] = 4
    assert list(cache) == ["write"] and cache.check() == []


def test_nothing_that_lives_goes_by_policy_before_what_has_expired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    cache = diskcache.Cache(tmp_path)
    cache["lives"] = 1
    cache.set("front", 1, expire=60)
    for number in range(30):
        cache.set(number, 1, expire=55)  # In one line with it.
    clock.now += 57
    cache.reset("size_limit", 0)
    for left in (22, 12, 2):
        cache["lives"] = 1
        assert len(cache) == left and "lives" in cache and "front" in cache


@pytest.mark.parametrize("cull_limit", [3, 40, -1])
def test_a_write_removes_as_many_as_cull_limit_says(
    cull_limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = patched(monkeypatch)
    pair = both(tmp_path, cull_limit=cull_limit)
    for number in range(100):
        pair.set(number, number, expire=60 + number % 2)
    clock.now += 90
    for number in range(3):
        pair.set("write", number)
        assert len(pair.mine) == pair.ask(len)


def test_negative_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = patched(monkeypatch)
    pair = both(tmp_path / "nothing fits", size_limit=-1, cull_limit=2)
    for number in range(10):
        clock.now += 1
        pair.set(number, number)
        pair.ask(list)
    # diskcache deletes everything then; we what has to go.
    cache = diskcache.Cache(tmp_path / "all goes", size_limit=4 * MIB, cull_limit=-1)
    for number in range(1000):
        cache[number] = "x" * 10_000
        assert number in cache and cache.volume() <= 4 * MIB
    assert len(cache) > 100 and cache.check() == []


@pytest.mark.parametrize(("asked", "made"), [(2**36, 2**36), (2**40, 2**40), (2**60, 2**40)])
def test_a_large_limit_is_one(
    asked: int, made: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Files of such a directory are sparse.
    monkeypatch.setattr("polycache.diskcache.handle.fitting", lambda limit, *_: limit)
    cache = diskcache.Cache(tmp_path, size_limit=asked)
    assert cache.size_limit == asked and cache._opened().limit == made


def test_rows_of_a_large_directory_are_counted_by_its_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polycache.diskcache.handle.fitting", lambda limit, *_: limit)
    cache = diskcache.Cache(tmp_path, size_limit=2**37)
    cache["first"] = 1
    before = used(tmp_path)
    for start in range(0, 80_000, 1000):
        with cache.transact():
            for number in range(start, start + 1000):
                cache.set(number, 1, expire=1e6)
    # The last block is taken as a whole.
    assert used(tmp_path) - before < cache._opened().numbers.size + 16 * MIB


def test_cull_limit_0_leaves_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = patched(monkeypatch)
    cache = diskcache.Cache(tmp_path, cull_limit=0, size_limit=0)
    cache.set("k", 1, expire=1)
    clock.now += 2
    for number in range(20):
        cache[number] = 1
    assert len(cache) == 21
    assert cache.cull() == 21


def test_settings_are_the_directory_s(tmp_path: Path) -> None:
    first = diskcache.Cache(tmp_path, size_limit=MIB, cull_limit=7, sqlite_mmap_size=0)
    second = diskcache.Cache(tmp_path)
    assert (second.size_limit, second.cull_limit) == (MIB, 7)
    assert first.reset("cull_limit", 3) == 3
    assert second.cull_limit == 7 and second.reset("cull_limit") == 3 == second.cull_limit
    assert second.reset("cull_limit", 5, update=False) == 5 == second.cull_limit
    assert first.reset("cull_limit") == 3
    first["k"] = 1
    assert second.reset("count") == 1
    first.create_tag_index()
    assert second.reset("tag_index") == 1
    first.drop_tag_index()
    assert second.reset("tag_index") == 0
    assert second.reset("disk_min_file_size", 5) == 5 == second.disk.min_file_size


@pytest.mark.parametrize(
    "settings",
    [
        {"size_limt": 1},
        {"eviction_policy": "random"},
        {"size_limit": float("nan")},
        {"size_limit": "1GB"},
        {"cull_limit": None},
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(polycache.InvalidArgument, match=next(iter(settings))):
        diskcache.Cache(tmp_path / "new", **settings)
    assert not (tmp_path / "new").exists()
    cache = diskcache.Cache(tmp_path)
    with pytest.raises(polycache.InvalidArgument):
        cache.reset(*next(iter(settings.items())))


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    with pytest.raises(ValueError, match="disk must subclass"):
        diskcache.Cache(tmp_path, disk=int)  # type: ignore[arg-type]
    with pytest.raises(polycache.InvalidArgument, match="a tag is"):
        cache.set("k", 1, tag=["t"])
    with pytest.raises(polycache.InvalidKey):
        cache["\ud800"] = 1
    with pytest.raises(polycache.InvalidKey, match="prefix"):
        cache.push(1, prefix="p" * 1010)
    with pytest.raises(KeyError):
        cache.push(1, side="middle")
    with pytest.raises(TypeError):
        cache.set("k", 1, expire="soon")  # type: ignore[arg-type]
    cache["k"] = "text"
    # diskcache raises an IntegrityError.
    cache[0], cache[1] = "zero", "one"
    with pytest.raises(polycache.InvalidArgument, match="0 is in use"):
        cache.push("new", side="front")
    assert cache.pop(0) == "zero" and cache.pop(1) == "one"
    with pytest.raises(TypeError, match="not a number"):
        cache.incr("k")
    assert list(cache) == ["k"]
    with pytest.raises(polycache.InvalidArgument, match="no name of a folder"):
        diskcache.FanoutCache(tmp_path / "fanout").cache("../outside")


def test_home_and_variables_stand_in_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PLACE", "somewhere")
    cache = diskcache.Cache("~/$PLACE")
    assert cache.directory == str(tmp_path / "somewhere")
    temporary = diskcache.Cache()
    assert os.path.isdir(temporary.directory)


def test_check_tells_and_mends(tmp_path: Path) -> None:
    cache = diskcache.Cache(tmp_path)
    for number in range(5):
        cache[number] = "x" * 5000 if number else "y"
    store = cache._opened()
    codes = [cache._code(number)[0] for number in range(5)]
    rows = [store.data.get(row_name(code)) for code in codes]
    store.data.delete(row_name(codes[1]))
    store.data.delete(place_name(rows[2][0]))
    store.data.delete(rows[3][VALUE])
    assert cache.get(3, "lost") == "lost" and cache.get(1) is None
    assert len(cache.check()) >= 2
    cache.check(fix=True)
    assert list(cache) == [0, 4] and len(cache) == 2
    assert cache.check() == []
    assert len(list(store.names(b"v"))) == 1
    with cache.transact():
        cache["k"] = 1
        with pytest.raises(polycache.InvalidArgument, match="transaction"):
            cache.check(fix=True)


def test_a_directory_that_lost_its_numbers_counts_again(tmp_path: Path) -> None:
    with diskcache.Cache(tmp_path) as cache:
        for number in range(5):
            cache[number] = number
        cache.push("q", "p")
    (tmp_path / "control").unlink()
    again = diskcache.Cache(tmp_path)
    again["new"] = 1
    assert len(again) == 7 and list(again) == [0, 1, 2, 3, 4, "p-500000000000000", "new"]
    assert again.pull("p")[1] == "q" and again.check() == []


@pytest.mark.parametrize(
    ("content", "error"),
    [(b"PCDISKC9" + bytes(4088), "UnsupportedVersion"), (b"something else", "ForeignDirectory")],
)
def test_another_program_s_file_is_refused(content: bytes, error: str, tmp_path: Path) -> None:
    (tmp_path / "control").write_bytes(content)
    with pytest.raises(getattr(polycache, error)):
        diskcache.Cache(tmp_path)
    assert (tmp_path / "control").read_bytes() == content
