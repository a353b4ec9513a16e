"""`Disk`, `JSONDisk`, disks of a program's own, and values from and as files."""

import io
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]
import pytest
from both import Both

import polycache
import polycache.diskcache as ours

VALUES: list[Any] = [None, True, 1, 1.5, "t", ["l", {"m": [None]}], "x" * 100_000]


def test_a_json_disk(tmp_path: Path) -> None:
    pair = Both(
        diskcache.Cache(str(tmp_path / "theirs"), disk=diskcache.JSONDisk, disk_compress_level=6),
        ours.Cache(tmp_path / "mine", disk=ours.JSONDisk, disk_compress_level=6),
    )
    for value in VALUES:
        pair.set(value, value)
        pair.get(value)
        pair.ask(lambda one: list(one.iterkeys()))
    pair.ask(list)
    pair.set((1, 2), (3,))
    pair.get([1, 2])
    pair.peekitem()
    pair.pop("t")
    pair.incr("t")
    pair.incr("t")  # Not a number, as it is stored.
    pair.ask(lambda one: one.set("file", io.BytesIO(b"f" * 50_000), read=True))
    pair.get("file", read=True)
    again = ours.Cache(tmp_path / "mine", disk=ours.JSONDisk)
    assert again.disk.compress_level == 6 and again[[1, 2]] == [3]  # type: ignore[attr-defined]
    ours.Cache(tmp_path / "mine")["plain"] = 1
    with pytest.raises(polycache.MalformedEntry, match="JSONDisk"):
        list(again)


def upper(base: Any) -> Any:
    class Upper(base):  # type: ignore[misc]
        """Of the shape that programs write for diskcache."""

        def __init__(self, directory: str, mark: str = "", **kwargs: Any) -> None:
            self.mark = mark
            super().__init__(directory, **kwargs)

        def put(self, key: Any) -> Any:
            return super().put(self.mark + key)

        def get(self, key: Any, raw: bool) -> Any:
            return super().get(key, raw).removeprefix(self.mark)

        def store(self, value: Any, read: bool, key: Any = ours.UNKNOWN) -> Any:
            return super().store(value if read else value.encode().hex(), read, key=key)

        def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> Any:
            data = super().fetch(mode, filename, value, read)
            return data if read else bytes.fromhex(data).decode()

    return Upper


def test_a_disk_of_the_program_s_own(tmp_path: Path) -> None:
    pair = Both(
        diskcache.Cache(str(tmp_path / "theirs"), disk=upper(diskcache.Disk), disk_mark="m:"),
        ours.Cache(tmp_path / "mine", disk=upper(ours.Disk), disk_mark="m:"),
    )
    for value in ("a", "b" * 50_000):
        pair.set(value, value)
        pair.ask(lambda one: one["a"])
    pair.ask(list)
    pair.ask(lambda one: [one[key] for key in one])
    pair.peekitem()
    assert ours.Cache(tmp_path / "mine")["m:a"] == b"a".hex()
    hashes = [ours.Disk("").hash(key) for key in (1, 1.0, "1", b"1", (1,), None)]
    assert hashes[0] == hashes[1] and len(set(hashes)) == 5


def test_a_disk_without_settings_of_its_own_takes_none(tmp_path: Path) -> None:
    class Plain(ours.Disk):
        pass

    with pytest.raises(polycache.InvalidArgument, match="unknown setting 'disk_mark'"):
        ours.Cache(tmp_path, disk=Plain, disk_mark="m:")
    ours.Cache(tmp_path, disk=upper(ours.Disk), disk_mark="m:")
    # It is kept for the other one.
    cache = ours.Cache(tmp_path, disk=Plain)
    with pytest.raises(polycache.InvalidArgument, match="unknown setting 'disk_mark'"):
        cache.reset("disk_mark")


class Nameless:
    """Reads, and is nothing else."""

    def __init__(self, data: bytes) -> None:
        self.file = io.BytesIO(data)

    def read(self, size: int) -> bytes:
        return self.file.read(size)


@pytest.mark.parametrize("make", [io.BytesIO, Nameless])
@pytest.mark.parametrize("size", [0, 10, 2000, 9_000_000])
def test_values_from_files_come_back_as_files(
    make: Callable[[bytes], Any], size: int, tmp_path: Path
) -> None:
    data = os.urandom(size)
    cache = ours.Cache(tmp_path)
    assert cache.set("k", make(data), read=True, tag="t")
    with cache.read("k") as file:
        assert os.fstat(file.fileno()).st_size == size
        assert file.read(5) == data[:5] and file.seek(0) == 0 and file.read() == data
        assert not file.writable()
    handle, expires, tag = cache.get("k", read=True, expire_time=True, tag=True)
    with handle:
        assert (handle.read(), expires, tag) == (data, None, "t")
    assert cache["k"] == data
    assert not cache.add("k", make(b"other"), read=True)
    key = cache.push(make(data), read=True)
    assert cache.pull() == (key, data)
    with pytest.raises(KeyError):
        cache.read("missing")
    fanout = ours.FanoutCache(tmp_path / "fanout")
    fanout.set("k", make(data), read=True)
    with fanout.read("k") as file:
        assert file.read() == data


def test_a_file_is_in_memory_once(tmp_path: Path) -> None:
    size = 32 * 2**20
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(size)
    cache = ours.Cache(tmp_path / "cache")
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            cache.set("k", file, read=True)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * size
    finally:
        tracemalloc.stop()
    assert cache["k"] == bytes(size)


def test_a_file_of_text_is_refused(tmp_path: Path) -> None:
    cache = ours.Cache(tmp_path)
    with pytest.raises(TypeError):
        cache.set("k", io.StringIO("text"), read=True)
    assert "k" not in cache
