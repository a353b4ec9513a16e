"""Taking over directories that the real diskcache has made."""

import hashlib
import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]
import pytest
from both import SECRET

import polycache
import polycache.diskcache as ours
from polycache.diskcache.importing import FULL, PICKLED_KEY, PICKLED_VALUE, import_directory, main

PLAIN: list[tuple[Any, Any]] = [
    ("text", "value"), ("", ""), ("ü", "ü" * 40_000), (b"\xff", b"bytes"), (b"", b"z" * 100_000),
    (1, 2), (-(2**63), 2**63 - 1), (1.5, 2.5), (-2.5, 0.0), ("p-500000000000000", "pushed"),
]  # fmt: skip
PICKLED: list[tuple[Any, Any]] = [
    ("none", None), ("list", [1, (2,)]), ("large", ["x" * 100_000]), ("big", 2**80),
]  # fmt: skip
KEYED: list[tuple[Any, Any]] = [((1, "a"), "tuple"), (None, "none"), (True, (1,)), (2**70, 1)]


def filled(folder: Path) -> Any:
    cache = diskcache.Cache(str(folder), cull_limit=0)
    for key, value in [*PLAIN, *PICKLED, *KEYED]:
        cache.set(key, value, tag="all")
    cache.set("expires", "later", expire=1000, tag=7)
    cache.set("gone", "now", expire=-1)
    return cache


def state(folder: Path) -> dict[str, Any]:
    """All of a directory: names, contents, times."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None,
            path.stat().st_mtime_ns,
            path.stat().st_mode,
        )
        for path in [folder, *folder.rglob("*")]
    }


def test_everything_comes_over_when_pickle_is_asked_for(tmp_path: Path) -> None:
    old = filled(tmp_path / "old")
    expires = old.get("expires", expire_time=True)[1]
    old.close()
    before = state(tmp_path / "old")
    results = import_directory(tmp_path / "old", tmp_path / "new", pickle_secret=SECRET)
    assert state(tmp_path / "old") == before
    everything = [*PLAIN, *PICKLED, *KEYED]
    assert [tuple(result) for result in results] == [
        (str(tmp_path / "new"), len(everything) + 1, {"expired": 1})
    ]
    with ours.Cache(tmp_path / "new", pickle_secret=SECRET) as new:
        assert list(new) == [*(key for key, _ in everything), "expires"]
        for key, value in everything:
            assert new.get(key, tag=True) == (value, "all")
            assert type(new[key]) is type(value)
        assert new.get("expires", expire_time=True, tag=True) == ("later", expires, 7)
        assert new.push("next", "p") == "p-500000000000001"
        with new.read(b"") as file:
            assert file.read() == b"z" * 100_000
        assert new.evict("all") == len(everything)
        assert new.check() == []


def test_without_pickle_it_says_what_it_skipped(tmp_path: Path) -> None:
    filled(tmp_path / "old").close()
    (result,) = import_directory(tmp_path / "old", tmp_path / "new")
    assert result.entries == len(PLAIN) + 1
    assert result.skipped == {
        "expired": 1,
        PICKLED_KEY: len(KEYED),
        PICKLED_VALUE: len(PICKLED),
    }
    new = ours.Cache(tmp_path / "new")
    assert [(key, new[key]) for key in new] == [*PLAIN, ("expires", "later")]


def test_nothing_is_unpickled_that_was_not_asked_for(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "exploded"),)

    with diskcache.Cache(str(tmp_path / "old")) as old:
        old["value"] = Bomb()
        old[Bomb()] = 1
    (result,) = import_directory(tmp_path / "old", tmp_path / "new")
    assert result.entries == 0
    assert not (tmp_path / "exploded").exists()


def test_what_a_writer_has_left_in_the_log_is_read(tmp_path: Path) -> None:
    # Open, so its last writes are not in the database yet, and nothing is there to be read by.
    old = filled(tmp_path / "old")
    assert (tmp_path / "old" / "cache.db-wal").stat().st_size > 0
    before = state(tmp_path / "old")
    (result,) = import_directory(tmp_path / "old", tmp_path / "new")
    assert result.entries == len(PLAIN) + 1
    assert state(tmp_path / "old") == before
    old.close()


def test_a_directory_that_can_only_be_read(tmp_path: Path) -> None:
    filled(tmp_path / "old").close()
    paths = [tmp_path / "old", *(tmp_path / "old").rglob("*")]
    for path in paths:
        path.chmod(stat.S_IREAD | (stat.S_IEXEC if path.is_dir() else 0))
    try:
        (result,) = import_directory(tmp_path / "old", tmp_path / "new")
    finally:
        for path in paths:
            path.chmod(0o700)
    assert result.entries == len(PLAIN) + 1


def test_a_secret_for_all_does_not_ask_for_pickles_of_others(tmp_path: Path) -> None:
    filled(tmp_path / "old").close()
    ours.use_pickle(SECRET)
    try:
        (result,) = import_directory(tmp_path / "old", tmp_path / "new")
    finally:
        ours.use_pickle(None)
    assert result.skipped == {"expired": 1, PICKLED_KEY: len(KEYED), PICKLED_VALUE: len(PICKLED)}


def test_a_transaction_that_its_writer_left_is_undone(tmp_path: Path) -> None:
    # Without a write-ahead log, SQLite keeps what was before in a journal.
    with diskcache.Cache(str(tmp_path / "live"), sqlite_journal_mode="delete") as live:
        for number in range(500):
            live[number] = "before"
        with live.transact():
            live._sql("PRAGMA cache_size = 1")
            for number in range(500):
                live[number] = "never"
            assert (tmp_path / "live" / "cache.db-journal").stat().st_size > 0
            shutil.copytree(tmp_path / "live", tmp_path / "old")
    before = state(tmp_path / "old")
    import_directory(tmp_path / "old", tmp_path / "new")
    assert state(tmp_path / "old") == before
    new = ours.Cache(tmp_path / "new")
    assert {new[key] for key in new} == {"before"} and len(new) == 500


def test_an_old_directory_at_its_limit_keeps_what_is_newest(tmp_path: Path) -> None:
    with diskcache.Cache(str(tmp_path / "old"), size_limit=4 * 2**20) as old:
        for number in range(2000):
            old[number] = "x" * 3000
        count = len(old)
    (result,) = import_directory(tmp_path / "old", tmp_path / "new")
    assert result.skipped == {FULL: count - result.entries}
    new = ours.Cache(tmp_path / "new")
    assert len(new) == result.entries > count // 3
    assert list(new) == list(range(2000 - result.entries, 2000)) and new.check() == []
    assert new.volume() <= new.size_limit


@pytest.mark.parametrize("settings", [{"eviction_policy": "none"}, {"cull_limit": 0}])
def test_what_does_not_fit_is_told(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with diskcache.Cache(str(tmp_path / "old"), size_limit=2**20, **settings) as old:
        for number in range(3000):
            old[number] = "x" * 3000
    monkeypatch.setattr("polycache.diskcache.handle.limit_of_store", lambda _: 4 * 2**20)
    (result,) = import_directory(tmp_path / "old", tmp_path / "new")
    assert result.skipped == {FULL: 3000 - result.entries}
    new = ours.Cache(tmp_path / "new")
    assert list(new) == list(range(result.entries)) and new.check() == []


def test_settings_come_over(tmp_path: Path) -> None:
    diskcache.Cache(
        str(tmp_path / "old"), size_limit=2**28, cull_limit=3, eviction_policy="none"
    ).close()
    import_directory(tmp_path / "old", tmp_path / "new")
    new = ours.Cache(tmp_path / "new")
    assert (new.size_limit, new.cull_limit, new.eviction_policy) == (2**28, 3, "none")


def test_a_fanout_cache_with_its_caches_deques_and_indexes(tmp_path: Path) -> None:
    with diskcache.FanoutCache(str(tmp_path / "old"), shards=4, size_limit=2**28) as old:
        for number in range(100):
            old[number] = str(number)
        old.cache("a/b")["k"] = "in a cache"
        old.deque("d").extend([3, 1, 2])
        old.index("i").update({"z": 1, "a": 2})
    results = import_directory(tmp_path / "old", tmp_path / "new")
    assert sorted(result.entries for result in results) == [1, 2, 3, 100]
    new = ours.FanoutCache(tmp_path / "new")
    assert {key: new[key] for key in new} == {number: str(number) for number in range(100)}
    assert new.cache("a/b")["k"] == "in a cache"
    assert list(new.deque("d")) == [3, 1, 2]
    assert list(new.index("i").items()) == [("z", 1), ("a", 2)]
    assert new.size_limit == 2**28


def test_a_directory_named_by_a_number_is_no_shard(tmp_path: Path) -> None:
    for year in ("2023", "2024", "100"):
        diskcache.Cache(str(tmp_path / year), size_limit=2**28).close()
    import_directory(tmp_path / "2024", tmp_path / "new")
    assert ours.Cache(tmp_path / "new").size_limit == 2**28


def test_locks_that_diskcache_has_left_are_free(tmp_path: Path) -> None:
    with diskcache.Cache(str(tmp_path / "old")) as old:
        for kind in (diskcache.RLock, diskcache.BoundedSemaphore):
            with kind(old, kind.__name__):
                pass
        diskcache.BoundedSemaphore(old, "held").acquire()
        diskcache.RLock(old, "also held").acquire()
        diskcache.Lock(old, "held by one").acquire()
    import_directory(tmp_path / "old", tmp_path / "new", pickle_secret=SECRET)
    new = ours.Cache(tmp_path / "new", pickle_secret=SECRET)
    for key in ("RLock", "also held"):
        with ours.RLock(new, key), ours.RLock(new, key):
            assert key in new
    for key in ("BoundedSemaphore", "held"):
        with ours.BoundedSemaphore(new, key):
            assert not ours.BoundedSemaphore(new, key)._try()
    lock = ours.Lock(new, "held by one")
    assert not lock.locked() and lock._try()
    assert lock.locked() and not lock._try()


def test_a_json_disk(tmp_path: Path) -> None:
    with diskcache.Cache(str(tmp_path / "old"), disk=diskcache.JSONDisk) as old:
        old[["a", 1]] = {"b": [None]}
        old["large"] = ["x" * 10] * 100_000
    (result,) = import_directory(tmp_path / "old", tmp_path / "new", disk=ours.JSONDisk)
    assert result == (str(tmp_path / "new"), 2, {})
    new = ours.Cache(tmp_path / "new", disk=ours.JSONDisk)
    assert list(new) == [["a", 1], "large"]
    assert new[["a", 1]] == {"b": [None]} and len(new["large"]) == 100_000


def test_missing_foreign_and_broken_files_are_told(tmp_path: Path) -> None:
    with diskcache.Cache(str(tmp_path / "old"), disk_min_file_size=0) as old:
        for key in ("gone", "outside", "text"):
            old[key] = key
        old._sql("UPDATE Cache SET filename = '../secret' WHERE key = 'outside'")
        name = old._sql("SELECT filename FROM Cache WHERE key = 'gone'").fetchone()[0]
        (tmp_path / "old" / name).unlink()
        name = old._sql("SELECT filename FROM Cache WHERE key = 'text'").fetchone()[0]
        (tmp_path / "old" / name).write_bytes(b"\xff")
        old._sql("INSERT INTO Cache (key, raw, mode, value) VALUES ('mode', 1, 9, 1)")
        old._sql("INSERT INTO Cache (key, raw, mode, value) VALUES (?, 0, 1, 1)", (b"junk",))
        old._sql("INSERT INTO Cache (key, raw, mode, value) VALUES ('v', 1, 4, ?)", (b"junk",))
        old["fine"] = 1
    (tmp_path / "secret").write_text("secret")
    (result,) = import_directory(tmp_path / "old", tmp_path / "new", pickle_secret=SECRET)
    assert result.entries == 1
    reasons = " | ".join(sorted(result.skipped))
    for part in ("file is gone", "outside the directory", "UnicodeDecodeError", "unknown mode 9"):
        assert part in reasons
    assert reasons.count("cannot be loaded") == 1 and sum(result.skipped.values()) == 6


def test_what_is_not_diskcache_s_is_refused(tmp_path: Path) -> None:
    with pytest.raises(polycache.InvalidArgument, match=r"no cache\.db"):
        import_directory(tmp_path, tmp_path.parent / "new")
    with pytest.raises(polycache.InvalidArgument, match="cannot be the old one"):
        import_directory(tmp_path, tmp_path / "new")
    with pytest.raises(polycache.InvalidArgument, match="around"):
        import_directory(tmp_path / "new" / "cache", tmp_path / "new")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "cache").symlink_to(tmp_path / "fanout" / "cache")
    with diskcache.FanoutCache(str(tmp_path / "fanout"), shards=1) as fanout:
        fanout.cache("c")["k"] = 1
    before = state(tmp_path / "fanout")
    with pytest.raises(polycache.InvalidArgument, match="within"):
        import_directory(tmp_path / "fanout", tmp_path / "linked")
    assert state(tmp_path / "fanout") == before
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "cache.db").write_bytes(b"not a database" * 100)
    with pytest.raises(polycache.InvalidArgument, match="is not diskcache's"):
        import_directory(tmp_path / "old", tmp_path / "new")


def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    with diskcache.Cache(str(tmp_path / "old")) as old:
        for number in range(3000):
            old[number] = "x" * 100
    path = tmp_path / "old" / "cache.db"
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 65536] = b"\xff" * 65536
    path.write_bytes(data)
    with pytest.raises(polycache.InvalidArgument, match="is damaged"):
        import_directory(tmp_path / "old", tmp_path / "new")
    assert ours.Cache(tmp_path / "new").check() == []


@pytest.mark.parametrize("secret", [b"\n" + bytes(range(128, 160)) + b"\n", SECRET, SECRET + b"\n"])
def test_a_secret_of_any_bytes_is_taken_from_its_file(secret: bytes, tmp_path: Path) -> None:
    filled(tmp_path / "old").close()
    (tmp_path / "secret").write_bytes(secret)
    arguments = ["--pickle", "--secret-file", tmp_path / "secret", tmp_path / "old", tmp_path / "n"]
    assert main([str(one) for one in arguments]) == 0
    used = secret if secret[0] == 10 else SECRET
    assert ours.Cache(tmp_path / "n", pickle_secret=used)["list"] == [1, (2,)]


def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("command", [("polycache", "import"), ("polycache.diskcache.importing",)])
def test_the_command(command: tuple[str, ...], tmp_path: Path) -> None:
    filled(tmp_path / "old").close()
    done = run(*command, tmp_path / "old", tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path / 'new'}: {len(PLAIN) + 1} entries" in done.stdout
    assert f"skipped {len(PICKLED)}: {PICKLED_VALUE}" in done.stdout
    assert "--pickle" in done.stdout.splitlines()[-1]
    (tmp_path / "secret").write_bytes(SECRET + b"\n")
    done = run(
        *command, "--pickle", "--secret-file", tmp_path / "secret", tmp_path / "old", tmp_path / "n"
    )
    assert (done.returncode, done.stderr) == (0, "") and "--pickle" not in done.stdout
    assert ours.Cache(tmp_path / "n", pickle_secret=SECRET)["list"] == [1, (2,)]
    done = run(
        *command, "--pickle", tmp_path / "old", tmp_path / "m", POLYCACHE_PICKLE_SECRET="s" * 16
    )
    assert done.returncode == 0 and len(ours.Cache(tmp_path / "m")) == 19
    for wrong, code, text in (
        (["--pickle", tmp_path / "old", tmp_path / "x"], 2, "--secret-file"),
        (["--secret-file", "s", tmp_path / "old", tmp_path / "x"], 2, "is for --pickle"),
        ([tmp_path / "none", tmp_path / "x"], 1, "no cache.db"),
        ([], 2, "usage"),
    ):
        done = run(*command, *wrong)
        assert done.returncode == code and text in done.stderr


def test_directories_of_others_are_refused(tmp_path: Path) -> None:
    old = str(tmp_path / "old")
    filled(tmp_path / "old").close()
    before = sorted(path.name for path in (tmp_path / "old").rglob("*"))
    with pytest.raises(ours.OldDirectory, match="polycache import"):
        ours.Cache(old)
    with pytest.raises(ours.OldDirectory, match="polycache import"):
        ours.FanoutCache(old)
    with pytest.raises(ours.OldDirectory, match="polycache import"):
        ours.Deque(directory=old)
    with pytest.raises(ours.OldDirectory, match="polycache import"):
        ours.Index(old)
    assert sorted(path.name for path in (tmp_path / "old").rglob("*")) == before
    with polycache.Cache(tmp_path / "plain") as plain:
        plain.set("k", "v")
        with pytest.raises(polycache.ForeignDirectory, match=r"directory of polycache\.Cache"):
            ours.Cache(str(tmp_path / "plain"))
        assert plain.get("k") == "v"


def test_a_directory_that_is_in_use_stays_ours(tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    (tmp_path / "cache.db").write_bytes(b"somebody's")
    cache["k"] = "v"
    assert ours.Cache(tmp_path)["k"] == "v"
    assert pickle.loads(pickle.dumps(cache)).directory == str(tmp_path)
