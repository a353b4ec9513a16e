"""Stores in threads that close them, in forked children, and beside processes that were killed."""

import gc
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from helpers import answer, python, together
from stores import SHARED, STORES, OwnStore

from polycache import (
    Cache,
    Closed,
    ForeignDirectory,
    InvalidArgument,
    IoError,
    TooManyParticipants,
)
from polycache.stores import Durability, Opening, kind_of
from polycache.stores.files import FilesStore


def in_child(work: Callable[[], None]) -> int:
    """How a forked child ended that did this, with all that Python does at its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
        gc.collect()
        os._exit(0)
    return os.waitpid(child, 0)[1]


CLOSES = """
import os, sys, threading, polycache
for number in range(5):
    cache = polycache.Cache(f"{sys.argv[1]}/{number}", store=sys.argv[2], serializer="bytes")
    begin = threading.Barrier(4)

    def work(own):
        begin.wait()
        try:
            for count in range(10**9):
                cache.set(f"{own}-{count % 50}", os.urandom(20_000))
                cache.get(f"{own}-{count % 7}")
                if count == 20:
                    done.set()
        except polycache.Closed:
            closed.append(own)

    closed, done = [], threading.Event()
    threads = [threading.Thread(target=work, args=(own,)) for own in range(3)]
    for thread in threads:
        thread.start()
    begin.wait()
    done.wait()
    cache.close()
    for thread in threads:
        thread.join()
    assert sorted(closed) == [0, 1, 2], closed
"""


@pytest.mark.parametrize("store", STORES)
def test_a_close_beside_threads_that_use_it(tmp_path: Path, store: Any) -> None:
    # In a process of its own: what goes wrong here ends it.
    done = subprocess.run(
        [sys.executable, "-c", CLOSES, str(tmp_path), store],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_two_threads_that_close_a_handle_close_no_other(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files") as other:
        for _ in range(20):
            together(*[Cache(tmp_path, store="files").close] * 4)
        other["k"] = 1
        assert other["k"] == 1


@pytest.mark.parametrize("store", STORES)
def test_a_forked_child_opens_it_again_or_is_refused(tmp_path: Path, store: Any) -> None:
    is_shared = kind_of(store, None).is_shared  # type: ignore[union-attr]
    with Cache(tmp_path, store=store) as cache:
        cache["k"] = "parent"

        def work() -> None:
            if not is_shared:
                for use in (lambda: cache["k"], lambda: cache.set("k", 1), cache.keys().__next__):
                    with pytest.raises(TooManyParticipants, match="was forked"):
                        use()
                with pytest.raises(TooManyParticipants, match="admits one process"):
                    Cache(tmp_path, store=store)
                cache.close()
                return
            assert cache["k"] == "parent"
            with Cache(tmp_path, store=store) as again:
                assert again["k"] == "parent"
                again["n"] = 1
            assert cache.increment("n") == 2
            cache.close()
            with Cache(tmp_path, store=store) as again:
                assert again["n"] == 2

        assert in_child(work) == 0
        cache["k"] = "still"
        assert cache["k"] == "still"
        assert cache.get("n") == (2 if is_shared else None)


def test_threads_that_end_leave_no_file_open(tmp_path: Path) -> None:
    with Cache(tmp_path, store="dbm") as cache:
        cache["k"] = 1
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            thread = threading.Thread(target=cache.get, args=("k",))
            thread.start()
            thread.join()
        assert len(os.listdir("/proc/self/fd")) <= before + 3


class Collecting(OwnStore):
    """Unrelated objects are finalized while it is opened, used and closed."""

    during: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, opening: Opening) -> None:
        type(self).during()
        super().__init__(opening)

    def put(self, key: bytes, value: bytes) -> None:
        type(self).during()
        super().put(key, value)

    def close(self) -> None:
        type(self).during()
        super().close()


def test_a_cache_that_is_let_go_of_in_a_store_s_method_is_closed(tmp_path: Path) -> None:
    def drop() -> None:
        Collecting.during = staticmethod(lambda: None)
        others.clear()
        gc.collect()

    def other() -> list[Any]:
        kept: list[Any] = [Cache(tmp_path / "other", store=OwnStore)]
        kept.append(kept)
        return [kept]

    others = other()
    Collecting.during = staticmethod(drop)
    cache = Cache(tmp_path / "one", store=Collecting)
    uses: list[Callable[[], None]] = [lambda: cache.set("k", 1), cache.close]
    for use in uses:
        # It was closed: another process may have it.
        assert in_child(lambda: Cache(tmp_path / "other", store=OwnStore).close()) == 0
        others = other()
        Collecting.during = staticmethod(drop)
        use()
        assert not others
    with pytest.raises(Closed):
        cache.get("k")

    def opens() -> None:
        Collecting.during = staticmethod(lambda: None)
        with pytest.raises(InvalidArgument, match="cannot open a store"):
            Cache(tmp_path / "third", store="files")

    Collecting.during = staticmethod(opens)
    Cache(tmp_path / "one", store=Collecting).close()


class Interrupted(OwnStore):
    def put(self, key: bytes, value: bytes) -> None:
        raise KeyboardInterrupt

    def delete(self, key: bytes) -> None:
        raise OSError("and this")


def test_an_interrupt_while_a_loaded_value_is_stored_is_raised(tmp_path: Path) -> None:
    with Cache(tmp_path, store=Interrupted) as cache:
        for use in (lambda: cache.get_or_set("k", lambda: 7), lambda: cache.set("k", 7)):
            with pytest.raises(KeyboardInterrupt):
                use()
        assert cache.get("k") is None


class Uncounted(OwnStore):
    counts = True


def test_a_store_that_says_it_counts_has_to(tmp_path: Path) -> None:
    with (
        Cache(tmp_path, store=Uncounted) as cache,
        pytest.raises(IoError, match="says that it counts"),
    ):
        cache["k"] = 1


class Several(OwnStore):
    durabilities: ClassVar[tuple[Durability, ...]] = ("kill", "none")


def test_a_handle_of_another_durability_is_refused(tmp_path: Path) -> None:
    with (
        Cache(tmp_path, store=Several, durability="none"),
        pytest.raises(InvalidArgument, match="durability"),
    ):
        Cache(tmp_path, store=Several, durability="kill")


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("mine")
    with pytest.raises(ForeignDirectory, match="no cache's"):
        Cache(tmp_path, store="files")
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    assert (tmp_path / "state").read_text() == "mine"


def test_a_store_without_its_state_is_measured(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files", serializer="bytes") as cache:
        for number in range(50):
            cache[f"k{number}"] = b"v" * 20_000
    before = counted_bytes(tmp_path)
    (tmp_path / "state").unlink()
    Cache(tmp_path, store="files").close()
    assert counted_bytes(tmp_path) == before > 50 * 20_000


def counted_bytes(path: Path) -> int:
    """Word 2 of the state (spec/stores.md)."""
    return int.from_bytes((path / "state").read_bytes()[16:24], "little")


def measured_bytes(path: Path) -> int:
    opening = Opening(path / "data", 1 << 30, "closed", False, False, "kill")
    return FilesStore(opening).size()


KILLED_IN_A_PUT = """
import os, sys, polycache
cache = polycache.Cache(sys.argv[1], store="files", serializer="bytes")
rename = os.rename
def killed(new, path):
    rename(new, path) if sys.argv[2] == "after" else None
    os.kill(os.getpid(), 9)
os.rename = killed
cache["k"] = b"v" * 100_000
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_a_killed_writer_left_is_counted_or_removed(tmp_path: Path, when: str) -> None:
    with Cache(tmp_path, store="files") as cache:
        # While another process has it open, which then closes it properly.
        with python(KILLED_IN_A_PUT, tmp_path, when) as writer:
            assert writer.wait() == -9
        assert cache.get("k", b"") == (b"v" * 100_000 if when == "after" else b"")
        cache["other"] = 1
    with Cache(tmp_path, store="files") as cache:
        assert list((tmp_path / "data" / "new").iterdir()) == []
    assert counted_bytes(tmp_path) == measured_bytes(tmp_path)


LOCKED = """
import sys, time, polycache
from polycache.stores import files
def stuck(self, key, value):
    print("in put", flush=True)
    time.sleep(600)
files.FilesStore.put = stuck
polycache.Cache(sys.argv[1], store="files")["k"] = 1
"""


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files") as cache, python(LOCKED, tmp_path) as writer:
        assert answer(writer) == "in put"
        got: list[str] = []
        waits = threading.Thread(target=lambda: got.append(cache.get_or_set("k", lambda: "mine")))
        waits.start()
        # Neither this thread's interpreter nor other keys wait for it; nor do reads.
        assert cache.get("k") is None
        cache["other"] = 1
        assert not got
        writer.kill()
        waits.join()
        assert got == ["mine"]


CHANGES = """
import os, random, sys, polycache
cache = polycache.Cache(sys.argv[1], store="files", limit="4MiB", serializer="bytes")
chance = random.Random(int(sys.argv[2]))
for number in range(1500):
    key = f"k{chance.randrange(60)}"
    if chance.random() < 0.1:
        cache.delete(key)
    else:
        cache[key] = b"v" * chance.randrange(1, 60_000)
    if number % 300 == 0:
        cache.namespace("empty").clear()
"""


def test_the_count_stands_beside_evictions_of_other_processes(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files", limit="4MiB") as cache:
        writers = [
            subprocess.Popen([sys.executable, "-c", CHANGES, str(tmp_path), str(seed)])
            for seed in range(3)
        ]
        assert [writer.wait() for writer in writers] == [0, 0, 0]
        assert cache.stats().evicted_by_age > 0
    assert counted_bytes(tmp_path) == measured_bytes(tmp_path) > 0


@pytest.mark.parametrize("store", SHARED)
def test_a_set_after_a_clear_began_is_whole(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store) as one, Cache(tmp_path, store=store) as other:

        def clears() -> None:
            for _ in range(10):
                one.clear()

        def sets() -> None:
            for number in range(200):
                other[f"k{number % 20}"] = number
                assert other.get(f"k{number % 20}") in (number, None)

        together(clears, sets)
        one.clear()
        assert list(other.keys()) == []
        assert one.check().damaged == []


def test_a_folder_that_was_removed_is_not_cleaned_of_anothers(tmp_path: Path) -> None:
    with Cache(tmp_path / "one", store="files") as cache:
        cache["k"] = 1
        shutil.rmtree(tmp_path / "one" / "data" / "new")
        with pytest.raises(IoError):
            cache["k"] = 2
        # What was there is superseded.
        assert cache.get("k") is None
