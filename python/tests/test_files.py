"""Values as files: `Cache.open`, `AsyncCache.open`, and `set` of a file."""

import errno
import gc
import io
import os
import resource
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import Clock
from helpers import answer, python, together, until
from servers import INSTALLED, Server, started
from stores import STORES, OwnStore, allocated

from polycache import (
    MISSING,
    AsyncCache,
    Cache,
    ChecksumMismatch,
    Closed,
    EntryTooLarge,
    InvalidArgument,
    InvalidKey,
    IoError,
    NoSpace,
    PolycacheError,
    ReadOnly,
    UnsupportedValue,
    ValueTooLarge,
    WrongType,
)

Make = Callable[..., Cache]
CONTENT = bytes(range(256)) * 5000


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if not INSTALLED:
        pytest.skip("no server is installed")
    with started(INSTALLED[0]) as server:
        yield server


WHERE = [
    "memory",
    "host",
    "smart",
    "encrypted",
    "idle",
    "remote",
    pytest.param(OwnStore, id="own"),
    *STORES,
    "named files",
    "compressed files",
    "idle files",
]


@pytest.fixture(params=WHERE)
def make(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Make]:
    where: Any = request.param
    places: dict[Any, dict[str, Any]] = {
        "memory": {},
        "host": {"path": tmp_path},
        "smart": {"path": tmp_path, "compressor": "smart"},
        "encrypted": {"path": tmp_path, "encryption": [{"id": 1, "key": b"k" * 32}]},
        "idle": {"path": tmp_path, "time_to_idle": "1h"},
        "remote": {"path": tmp_path},
        "named files": {"path": tmp_path, "store": "files"},
        "compressed files": {"path": tmp_path, "store": "files", "compressor": "zstd"},
        "idle files": {"path": tmp_path, "store": "files", "time_to_idle": "1h"},
    }
    given = places.get(where, {"path": tmp_path, "store": where})
    if where == "remote":
        given["remote"] = request.getfixturevalue("server").url
        given["timeout"] = "5s"
        # The clear at the end of a test is not to be another's.
        given["namespace"] = request.node.name
    if where == "named files":
        # As on a file system where each file has a name.
        monkeypatch.delattr(os, "O_TMPFILE")
    opened: list[Cache] = []

    def made(**options: Any) -> Cache:
        opened.append(Cache(**given, **options))
        return opened[-1]

    yield made
    for cache in opened:
        if not cache.closed:
            cache.clear()
            assert cache.check().damaged == []
        cache.close()


def in_new(path: Path) -> list[str]:
    return os.listdir(path / "data" / "new")


def test_bytes_and_text_are_written_and_read(make: Make) -> None:
    cache = make()
    with cache.open("k", "wb", ttl="1h") as file:
        assert file.write(CONTENT[:10]) == 10
        assert file.write(memoryview(CONTENT)[10:]) == len(CONTENT) - 10
        assert (file.tell(), file.writable(), file.readable()) == (len(CONTENT), True, False)
        assert "k" not in cache
    assert cache["k"] == CONTENT and cache.ttl("k") > 3000  # type: ignore[operator]
    with cache.open("k") as read:
        assert read.read(3) == CONTENT[:3]
        assert read.seek(-2, os.SEEK_END) == len(CONTENT) - 2
        assert read.read() == CONTENT[-2:] and read.read() == b""
        assert read.seek(1000) == 1000 and read.read(70_000) == CONTENT[1000:71_000]
        assert read.seek(10, os.SEEK_CUR) == 71_010 and read.tell() == 71_010
        with pytest.raises(ValueError, match="negative seek"):
            read.seek(-1)
        with pytest.raises(io.UnsupportedOperation):
            read.write(b"x")
    with cache.open("t", "w") as text:
        text.write("Größe\n")
        text.writelines(["zwei\n", "drei"])
    assert cache["t"] == "Größe\nzwei\ndrei".encode()
    with cache.open("t", "r") as lines:
        assert list(lines) == ["Größe\n", "zwei\n", "drei"]
    with cache.open("t", "w", encoding="latin-1", newline="\r\n") as text:
        text.write("ü\n")
    assert cache["t"] == b"\xfc\r\n"
    with cache.open("t", "rt", encoding="latin-1", newline="") as lines:
        assert lines.read() == "ü\r\n"
    with cache.open("empty", "wb"):
        pass
    assert cache["empty"] == b"" and cache.open("empty").read() == b""


def test_what_was_set_is_read(make: Make) -> None:
    cache = make()
    for size in (0, 1, 255, 256, 65_535, 65_536, 300_000):
        cache["k"] = CONTENT[:size]
        with cache.open("k") as file:
            assert file.read() == CONTENT[:size], size
        cache["t"] = "ä" * size
        assert cache.open("t", "r").read() == "ä" * size
    cache["list"] = [b"x"]
    with pytest.raises(WrongType, match="the value is a list"):
        cache.open("list")
    with pytest.raises(KeyError):
        cache.open("missing")
    with pytest.raises(KeyError):
        cache.open("missing", "r")


def test_what_fails_stores_nothing(make: Make) -> None:
    cache = make()
    cache["k"] = "old"
    for mode in ("wb", "w"):
        content: Any = b"new" if mode == "wb" else "new"
        with pytest.raises(ZeroDivisionError), cache.open("k", mode) as file:
            file.write(content)
            raise ZeroDivisionError
        assert file.closed
        file.close()  # Once more does nothing.
        file = cache.open("k", mode)
        file.write(content)
        file.discard()
        file.discard()
        assert file.closed
        with pytest.raises(ValueError, match="closed file"):
            file.write(content)
        file = cache.open("k", mode)
        file.write(content)
        with pytest.warns(ResourceWarning, match="never closed"):
            del file
            gc.collect()
    with pytest.raises(TypeError), cache.open("k", "wb") as writer:
        writer.write("text")  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError), cache.open("k", "w", encoding="ascii") as text:
        text.write("ä")
    assert cache["k"] == "old"


def test_a_write_that_failed_is_not_forgotten_by_a_block_that_goes_on(make: Make) -> None:
    cache = make()
    with pytest.raises(TypeError), cache.open("k", "wb") as writer:
        writer.write(b"one")
        with suppress(TypeError):
            writer.write("two")  # type: ignore[arg-type]
    assert "k" not in cache


def test_files_are_set(make: Make, tmp_path: Path) -> None:
    cache = make()
    source = tmp_path / "source"
    source.write_bytes(CONTENT)
    with source.open("rb") as file:
        file.seek(7)
        cache.set("k", file, ttl="1h")
    assert cache["k"] == CONTENT[7:] and cache.ttl("k") > 3000  # type: ignore[operator]
    cache["k"] = io.BytesIO(b"bytes")
    assert cache["k"] == b"bytes"
    cache.set("copy", cache.open("k"))
    assert cache["copy"] == b"bytes"
    with (
        pytest.raises(UnsupportedValue, match="binary mode"),
        source.open("r", encoding="latin-1") as text,
    ):
        cache.set("k", text)

    class Fails:
        def read(self, size: int) -> bytes:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.set("k", Fails())
    with pytest.raises(UnsupportedValue):
        cache.set("k", [io.BytesIO(b"not in a list")])
    with pytest.raises(InvalidArgument):
        cache.set("k", io.BytesIO(b"new"), ttl="soon")
    with pytest.raises(InvalidKey):
        cache.set(1, io.BytesIO(b"new"))  # type: ignore[arg-type]
    assert cache["k"] == b"bytes"


def test_without_isolation_memory_keeps_the_object() -> None:
    cache = Cache(memory={"isolation": "none"})
    file = io.BytesIO(b"x")
    cache.set("k", file)
    assert cache["k"] is file
    with cache.open("b", "wb") as writer:
        writer.write(b"bytes")
    assert cache.open("b").read() == b"bytes"


def test_wrong_arguments(make: Make) -> None:
    cache = make()
    wrong: list[tuple[type[Exception], dict[str, Any]]] = [
        (InvalidArgument, {"mode": "a"}),
        (InvalidArgument, {"mode": "r+b"}),
        (InvalidArgument, {"mode": "rb", "ttl": "1h"}),
        (InvalidArgument, {"mode": "rb", "encoding": "utf-8"}),
        (InvalidArgument, {"mode": "wb", "newline": ""}),
        (InvalidArgument, {"mode": "wb", "ttl": -1}),
        (InvalidArgument, {"mode": "w", "ttl": "soon"}),
        (LookupError, {"mode": "w", "encoding": "klingon"}),
    ]
    for error, given in wrong:
        with pytest.raises(error):
            cache.open("k", **given)
    for mode in ("rb", "wb"):
        with pytest.raises(InvalidKey):
            cache.open(1, mode)  # type: ignore[call-overload]
    cache["k"] = b"x"
    with pytest.raises(LookupError):
        cache.open("k", "r", encoding="klingon")
    writer = cache.open("k", "wb")
    writer.write(b"late")
    cache.close()
    with pytest.raises(Closed):
        writer.close()
    assert writer.closed
    for mode in ("rb", "wb"):
        with pytest.raises(Closed):
            cache.open("k", mode)  # type: ignore[call-overload]


@pytest.mark.parametrize("store", ["host", "files"])
@pytest.mark.parametrize("serializer", ["text", "json"])
def test_a_serializer_without_bytes(tmp_path: Path, store: Any, serializer: Any) -> None:
    with Cache(tmp_path, store=store, serializer=serializer) as cache:
        cache["t"] = "text"
        assert cache.open("t").read() == b"text"
        with pytest.raises(
            UnsupportedValue, match=f'the serializer "{serializer}" stores no bytes'
        ):
            cache.open("k", "wb")
        with pytest.raises(UnsupportedValue):
            cache.set("k", io.BytesIO(b"x"))


def test_values_that_are_too_large(make: Make) -> None:
    cache = make()
    if cache.path is None:
        pytest.skip("memory alone has no max_value")
    cache.close()
    small = make(max_value="1MiB")
    small["k"] = "old"
    piece = b"x" * 300_000
    with pytest.raises(ValueTooLarge) as caught, small.open("k", "wb") as writer:
        for _ in range(4):
            writer.write(piece)
    assert (caught.value.size, caught.value.limit) == (1_200_000, 2**20)
    assert small["k"] == "old"
    # As any `set` that is too large.
    with pytest.raises(ValueTooLarge):
        small.set("k", io.BytesIO(piece * 4))
    assert "k" not in small
    with small.open("k", "wb") as writer:
        writer.write(b"x" * (2**20 - 5))  # MessagePack adds five.
    assert len(small.open("k").read()) == 2**20 - 5


@pytest.mark.parametrize("store", ["host", "files"])
def test_entries_that_are_too_large(tmp_path: Path, store: Any) -> None:
    with Cache(tmp_path, store=store, limit="8MiB") as cache:
        cache["k"] = "old"
        writer = cache.open("k", "wb")
        with pytest.raises(EntryTooLarge):
            for _ in range(30):
                writer.write(b"x" * 100_000)
            writer.close()
        writer.discard()
        with pytest.raises(EntryTooLarge):
            cache.set("k", io.BytesIO(b"x" * 3_000_000))
        assert "k" not in cache


def test_a_reader_keeps_what_it_opened(make: Make) -> None:
    cache = make()
    cache["k"] = CONTENT
    read = cache.open("k")
    assert read.read(10) == CONTENT[:10]
    with cache.open("k", "wb") as writer:
        writer.write(b"new")
    other = cache.open("k")
    cache.delete("k")
    assert read.read() == CONTENT[10:] and other.read() == b"new"
    cache.clear()
    read.seek(0)
    assert read.read() == CONTENT


def test_a_file_that_is_written_is_a_set_at_its_close(make: Make) -> None:
    cache = make()
    one, other = cache.open("k", "wb"), cache.open("k", "wb")
    one.write(b"one")
    other.write(b"other")
    cache.clear()
    other.close()
    assert cache["k"] == b"other"

    def load() -> str:
        one.close()
        return "loaded"

    cache.delete("k")
    assert cache.get_or_set("k", load) == "loaded"
    assert cache["k"] == b"one"  # A set during a load wins.
    before = cache.stats().writes
    with cache.open("k", "wb"):
        pass
    assert cache.stats().writes == before + 1


def test_reads_and_misses_are_counted(make: Make) -> None:
    cache = make()
    cache["k"] = b"x"
    before = cache.stats()
    cache.open("k").close()
    with pytest.raises(KeyError):
        cache.open("missing")
    after = cache.stats()
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 1)


def test_a_value_expires(make: Make, clock: Clock) -> None:
    cache = make(clock=clock)
    writer = cache.open("k", "wb", ttl="10s")
    clock.now += 60_000
    writer.write(b"x")
    writer.close()  # It counts from here.
    clock.now += 9_999
    assert cache.open("k").read() == b"x"
    clock.now += 1
    with pytest.raises(KeyError):
        cache.open("k")


def test_zip_files(make: Make) -> None:
    cache = make()
    with cache.open("z", "wb") as file, zipfile.ZipFile(file, "w") as written:
        written.writestr("a.txt", "in the archive")
    with cache.open("z") as read, zipfile.ZipFile(read) as archive:
        assert archive.read("a.txt") == b"in the archive"


def test_several_write_one_key_and_others_read(make: Make) -> None:
    cache = make()
    cache["k"] = b"0" * 200_000

    def write(digit: bytes) -> None:
        for _ in range(15):
            with cache.open("k", "wb") as file:
                for _ in range(20):
                    file.write(digit * 10_000)

    def read() -> None:
        for _ in range(30):
            with cache.open("k") as file:
                found = file.read()
            assert len(found) == 200_000 and len(set(found)) == 1

    together(lambda: write(b"1"), lambda: write(b"2"), read, read)


async def test_asyncio(make: Make) -> None:
    cache = AsyncCache.over(make())
    async with cache.open("k", "wb", ttl="1h") as file:
        assert await file.write(b"one\n") == 4
        await file.write(b"two")
        assert await file.tell() == 7
    assert await cache.get("k") == b"one\ntwo"
    async with cache.open("k") as read:
        assert await read.read(2) == b"on"
        assert await read.seek(0) == 0
        assert [line async for line in read] == [b"one\n", b"two"]
    assert read.closed
    text = await cache.open("k", "r")
    assert await text.read() == "one\ntwo"
    await text.close()
    with pytest.raises(ZeroDivisionError):
        async with cache.open("k", "w") as written:
            await written.write("new")
            raise ZeroDivisionError
    written = await cache.open("k", "w")
    await written.discard()
    with pytest.raises(KeyError):
        await cache.open("missing")
    with pytest.raises(KeyError):
        async with cache.open("missing"):
            pass
    assert await cache.get("k") == b"one\ntwo"
    await cache.set("f", io.BytesIO(b"from a file"))
    assert await cache.get("f") == b"from a file"


# What only the store of files does.


WRITES = """
import sys, polycache
cache = polycache.Cache(sys.argv[1], store="files", limit="64MiB")
file = cache.open("k", "wb")
for _ in range(100):
    file.write(b"x" * 100_000)
print("written", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("named", [False, True])
def test_a_process_that_is_killed_stores_nothing(tmp_path: Path, named: bool) -> None:
    take_away = "import os; del os.O_TMPFILE\n" if named else ""
    with Cache(tmp_path, store="files", limit="64MiB") as cache:
        cache["k"] = "old"
        before = cache.stats().bytes
        with python(take_away + WRITES, tmp_path) as writer:
            assert answer(writer) == "written"
            assert len(in_new(tmp_path)) == named
            writer.kill()
            writer.wait()
        assert (cache["k"], cache.stats().bytes) == ("old", before)
        if not named:
            assert allocated(tmp_path / "data") < 1_000_000
            assert in_new(tmp_path) == []
    with Cache(tmp_path, store="files") as cache:
        assert cache["k"] == "old" and in_new(tmp_path) == []


def test_a_forked_child_stores_nothing_of_its_parents(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files") as cache:
        writer = cache.open("k", "wb")
        writer.write(b"parent's")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                writer.write(b"child's")
                writer.close()
            except InvalidArgument:
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        writer.close()
        assert cache["k"] == b"parent's"


MEMORY = """
import resource, sys, polycache
cache = polycache.Cache(sys.argv[1], store="files", limit="2GiB", max_value="1GiB")
piece = bytes(range(256)) * 4096
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
cache["warm"] = b"x"; cache.open("warm").read()
before = peak()
with cache.open("k", "wb") as file:
    for _ in range(200):
        file.write(piece)
with cache.open("k") as file:
    count = 0
    while read := file.read(len(piece)):
        assert read == piece
        count += 1
with cache.open("k") as file:
    cache.set("copy", file)
print(count, peak() - before)
"""


def test_memory_stays_the_same_whatever_the_size(tmp_path: Path) -> None:
    with python(MEMORY, tmp_path) as process:
        count, grown = map(int, answer(process).split())
    assert count == 200
    assert grown < 16 * 2**20  # Of 200 MiB.


def test_what_is_written_counts_for_the_limit(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files", limit="16MiB") as cache:
        for number in range(40):
            with cache.open(f"k{number}", "wb") as file:
                file.write(os.urandom(1_000_000))
            assert allocated(tmp_path) <= 16 * 2**20
        assert cache.stats().evicted_by_age > 20
        assert cache.open("k39").read() == cache["k39"]


def check_refused(cache: Cache, key: str) -> None:
    """What `get` refuses, `open` refuses for the same reason."""
    expected: type[Exception] = KeyError  # It looks like the value of another long key.
    try:
        assert cache.get(key, MISSING) is MISSING
    except PolycacheError as error:
        expected = type(error)
    with pytest.raises(expected):
        cache.open(key)


def test_damaged_files_are_not_read(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files") as cache:
        for key in ("k", "l" * 200):
            with cache.open(key, "wb") as file:
                file.write(CONTENT)
            (path,) = (tmp_path / "data" / "entries").glob("*/*")
            whole = path.read_bytes()
            for at in [*range(45), 500_000, *range(len(whole) - 16, len(whole))]:
                changed = bytearray(whole)
                changed[at] ^= 0x20
                path.write_bytes(changed)
                check_refused(cache, key)
            for length in (0, 15, 16, 30, 1000, len(whole) - 1):
                path.write_bytes(whole[:length])
                check_refused(cache, key)
            path.write_bytes(whole)
            opened = cache.open(key)
            os.truncate(path, 1000)
            with pytest.raises(ChecksumMismatch):
                opened.read()
            cache.delete(key)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Cache(tmp_path, store="files") as cache:
        cache["k"] = "old"
        writer = cache.open("k", "wb")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(NoSpace) as caught:
                for _ in range(20):
                    writer.write(b"x" * 100_000)
            assert isinstance(caught.value.__cause__, OSError)
            assert caught.value.__cause__.errno == errno.EFBIG
            with pytest.raises(NoSpace):
                writer.close()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert writer.closed and cache["k"] == "old"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with Cache(path, store="files") as cache:
        writer = cache.open("k", "wb")
        writer.write(b"x")
        os.rename(path, tmp_path / "gone")
        with pytest.raises(IoError):
            writer.close()
        with pytest.raises(IoError):
            cache.open("k", "wb")
        assert writer.closed


def test_a_read_only_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(tmp_path, mode=0o400 | 0o200).close()
    with Cache(tmp_path) as cache:
        cache["k"] = b"x"
    if os.getuid() == 0:
        pytest.skip("root may write everywhere")
    os.chmod(tmp_path, 0o500)
    with Cache(tmp_path) as cache, pytest.raises(ReadOnly), cache.open("k", "wb") as writer:
        writer.write(b"y")


def test_descriptors_are_given_back(make: Make) -> None:
    cache = make()
    cache["k"] = CONTENT

    times = 5

    def use() -> int:
        for _ in range(times):
            cache.open("k").close()
            cache.open("k").read()
            with cache.open("k", "wb") as writer:
                writer.write(b"x")
            cache.open("k", "wb").discard()
            with pytest.raises(KeyError):
                cache.open("missing")
            cache["list"] = [1]
            with pytest.raises(WrongType):
                cache.open("list")
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    use()
    before = use()
    # Those of tests before this one may go meanwhile, and a remote tier may connect once more.
    # What is not given back is there once for each time.
    assert use() < before + times


def test_a_long_key_and_a_namespace(tmp_path: Path) -> None:
    with Cache(tmp_path, store="files", namespace=["a", "b"]) as cache:
        key = "../" + "k" * 300
        with cache.open(key, "wb") as file:
            file.write(b"long")
        assert cache.open(key).read() == cache[key] == b"long"
        assert list(cache.keys()) == [key]
        entry = cache.entry(key)
        assert entry is not None and (entry.serializer, entry.value) == ("bytes", b"long")
        until(lambda: "other" not in cache)
