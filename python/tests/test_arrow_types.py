"""Arrow's tables, batches and buffers as registered types: spec/entry.md, "Arrays and tables"."""

import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from registered import every_isolated_cache, opened

from polycache import Cache, Named, WrongType
from polycache.arrays import arrow_types

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def batch() -> Any:
    return pa.RecordBatch.from_pydict(
        {
            "n": pa.array([1, None, 3], pa.int64()),
            "text": ["a", "é", None],
            "list": [[1.5], [], None],
            "struct": [{"a": True}, {"a": None}, None],
            "word": pa.array(["x", "y", "x"]).dictionary_encode(),
            "when": pa.array([0, 1, None], pa.timestamp("ns", "UTC")),
        }
    )


def table() -> Any:
    return pa.Table.from_batches([batch(), batch().slice(1), batch().slice(0, 0)])


WORDS = [pa.array(one).dictionary_encode() for one in (["x"], ["y", "z"])]
VALUES: dict[str, Any] = {
    "table": table(),
    "table without rows": table().slice(0, 0),
    "table without columns": pa.table({}),
    "table with metadata": table().replace_schema_metadata({"a": "b"}),
    "table with dictionaries": pa.table({"word": pa.chunked_array(WORDS)}),
    "batch": batch(),
    "part of a batch": batch().slice(1, 1),
    "batch without rows": batch().slice(0, 0),
    "batch without columns": pa.RecordBatch.from_arrays([], []),
    "buffer": pa.py_buffer(b"abc"),
    "part of a buffer": pa.py_buffer(b"abcdef")[2:4],
    "empty buffer": pa.py_buffer(b""),
}


@every_isolated_cache
@pytest.mark.parametrize("which", VALUES)
def test_it_comes_back(kind: str, which: str, directory: Path) -> None:
    value = VALUES[which]
    with opened(kind, directory, types=arrow_types()) as cache:
        cache.set("k", [value])
        for read in (cache.get("k")[0], cache.get_or_set("l", lambda: value)):
            assert type(read) is type(value) and read.equals(value)
            if isinstance(value, pa.Buffer):
                assert not read.is_mutable
            else:
                assert read.schema.equals(value.schema, check_metadata=True)
                read.validate(full=True)
        cache.set("m", read)
        assert cache.get("m").equals(value)


def test_programs_without_arrow_read_the_stream(directory: Path) -> None:
    with opened("directory", directory, types=arrow_types()) as cache:
        cache.set_many({"table": table(), "batch": batch(), "buffer": pa.py_buffer(b"abc")})
    with Cache(directory) as cache:
        read = cache.get("table")
        assert read.name == "pyarrow.Table" and type(read.value) is bytes
        assert pa.ipc.open_stream(read.value).read_all().equals(table())
        assert cache.get("batch").name == "pyarrow.RecordBatch"
        assert pa.ipc.open_stream(cache.get("batch").value).read_next_batch().equals(batch())
        assert cache.get("buffer") == Named("pyarrow.Buffer", b"abc")


def stream(*batches: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for one in batches:
            writer.write(one)
    made: bytes = sink.getvalue().to_pybytes()
    return made


def with_wrong_offsets(dictionary: bool = False) -> bytes:
    """A text that would end far behind the data."""
    texts = pa.array(["thirteen char"])
    texts = texts.dictionary_encode() if dictionary else texts
    written = stream(pa.RecordBatch.from_arrays([texts], ["a"]))
    place = written.rindex(bytes(4) + (13).to_bytes(4, "little"))
    return written[: place + 4] + (2**30).to_bytes(4, "little") + written[place + 8 :]


def with_wrong_utf8() -> bytes:
    written = stream(pa.RecordBatch.from_pydict({"a": ["12345678"]}))
    return written.replace(b"12345678", b"1234\xff678")


def without_batches() -> bytes:
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, batch().schema).close()
    made: bytes = sink.getvalue().to_pybytes()
    return made


WRONG: dict[str, tuple[str, Any]] = {
    "no bytes": ("pyarrow.Table", {"a": 1}),
    "text": ("pyarrow.Table", "text"),
    "nothing": ("pyarrow.Table", b""),
    "other bytes": ("pyarrow.Table", b"\xff" * 100),
    "half of a table": ("pyarrow.Table", stream(batch())[: len(stream(batch())) // 2]),
    "offsets behind the data": ("pyarrow.Table", with_wrong_offsets()),
    "offsets behind the data of a dictionary": ("pyarrow.Table", with_wrong_offsets(True)),
    "text that is not UTF-8": ("pyarrow.Table", with_wrong_utf8()),
    "no batch": ("pyarrow.RecordBatch", without_batches()),
    "two batches": ("pyarrow.RecordBatch", stream(batch(), batch())),
    "a batch with offsets behind the data": ("pyarrow.RecordBatch", with_wrong_offsets()),
    "a buffer of text": ("pyarrow.Buffer", "text"),
}


@pytest.mark.parametrize("kind", ["directory alone", "no path"])
@pytest.mark.parametrize("which", WRONG)
def test_other_bytes_are_a_wrong_type(kind: str, which: str, directory: Path) -> None:
    with opened(kind, directory, types=arrow_types()) as cache:
        cache.set("k", {"it": Named(*WRONG[which])})
        with pytest.raises(WrongType) as error:
            cache.get("k")
        assert error.value.path == "$.it" and error.value.__cause__ is not None


def test_changed_bytes_are_refused_or_a_whole_table() -> None:
    one = arrow_types()["pyarrow.Table"]
    assert one.encode is not None and one.decode is not None
    written = one.encode(table())
    chance = random.Random(19)
    outcomes = set()
    for _ in range(500):
        changed = bytearray(written)
        changed[chance.randrange(len(changed))] = chance.choice([0, 1, 127, 255])
        try:
            read = one.decode(bytes(changed))
        except Exception:
            outcomes.add("refused")
        else:
            # Every element can be reached.
            for column in read.columns:
                for chunk in column.chunks:
                    chunk.take(pa.array(range(len(chunk)), pa.int64()))
            outcomes.add("whole")
    assert outcomes == {"refused", "whole"}


BIG = 8 << 20


def test_encoding_copies_once_and_decoding_not_at_all() -> None:
    one = arrow_types()["pyarrow.Table"]
    assert one.encode is not None and one.decode is not None
    numbers = pa.table({"n": pa.array(range(BIG // 8), pa.int64())})
    allocated = pa.total_allocated_bytes()
    tracemalloc.start()
    try:
        value = one.encode(numbers)
        assert type(value) is bytes
        assert tracemalloc.get_traced_memory()[1] < BIG + BIG // 4
        assert pa.total_allocated_bytes() - allocated < BIG // 16
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        read = one.decode(value)
        assert tracemalloc.get_traced_memory()[1] - before < BIG // 16
        assert pa.total_allocated_bytes() - allocated < BIG // 16
    finally:
        tracemalloc.stop()
    (chunk,) = read["n"].chunks
    data, whole = chunk.buffers()[1], pa.py_buffer(value)
    assert whole.address <= data.address
    assert data.address + data.size <= whole.address + whole.size
    assert not data.is_mutable
