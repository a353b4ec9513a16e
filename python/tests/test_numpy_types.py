"""NumPy's arrays and scalars as registered types: spec/entry.md, "Arrays and tables"."""

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from registered import every_cache, every_isolated_cache, opened

from polycache import AsyncCache, Cache, InvalidArgument, Named, Type, UnsupportedValue, WrongType
from polycache.arrays import numpy_types

np: Any = pytest.importorskip("numpy", reason="numpy is not installed")

RECORD = np.dtype(
    {
        "names": ["seen", "place", "inner", "name"],
        "formats": ["?", (">f4", (2, 3)), np.dtype([("when", "<M8[s]")]), "<U3"],
        # With room between the fields, and out of their order.
        "offsets": [40, 0, 24, 44],
        "itemsize": 64,
    }
)


def records() -> Any:
    made = np.zeros(3, RECORD)
    made["seen"] = [True, False, True]
    made["place"] = np.arange(18).reshape(3, 2, 3)
    made["inner"]["when"] = np.datetime64("2026-11-27", "s")
    made["name"] = ["a", "bcd", "é"]
    return made


ARRAYS: dict[str, Any] = {
    "float64": np.linspace(0, 1, 7),
    "no dimensions": np.array(2.5),
    "empty": np.zeros((3, 0, 2), "<f4"),
    "empty, of text": np.array([], "<U4"),
    "C order": np.arange(24, dtype="<i2").reshape(2, 3, 4),
    "Fortran order": np.asfortranarray(np.arange(24, dtype="<i2").reshape(2, 3, 4)),
    "every second": np.arange(24).reshape(4, 6)[::2, 1::2],
    "backwards": np.arange(5)[::-1],
    "repeated": np.broadcast_to(np.arange(3), (4, 3)),
    "transposed part": np.arange(24).reshape(2, 3, 4)[:, 1:].T,
    "big endian": np.array([1, 256, -3], ">i4"),
    "big endian times": np.array(["2026-11-27", "NaT"], ">M8[D]"),
    "half": np.array([1, np.inf, np.nan], "<f2"),
    "unsigned": np.array([0, 2**64 - 1], "<u8"),
    "bytes of integers": np.arange(256, dtype="u1"),
    "bool": np.array([[True, False], [False, False]]),
    "complex": np.array([1 + 2j, complex(np.nan, -0.0)]),
    "complex64": np.array([1 + 2j], ">c8"),
    "nanoseconds": np.array(["2026-11-27T12:00:00.123456789", "NaT"], "M8[ns]"),
    "steps of 25 us": np.array([1, 2], "m8[25us]"),
    "durations without a unit": np.array([1, 2], "m8"),
    "text": np.array([["é", "日本"], ["", "\U0001f600a"]]),
    "bytes of a fixed length": np.array([b"a", b"", b"\xff\x00\x01"]),
    "raw bytes": np.array([b"abc", b"de"], "V3"),
    "records": records(),
    "aligned records": np.zeros(2, np.dtype([("a", "i1"), ("b", "f8")], align=True)),
    "records by columns": np.asfortranarray(np.zeros((2, 2), [("a", "<i4"), ("b", "S2")])),
}


def same(read: Any, array: Any) -> bool:
    """True for the same class, dtype, shape and bytes (NaNs have bytes, too)."""
    return (
        type(read) is type(array)
        and read.dtype == array.dtype
        and read.dtype.str == array.dtype.str
        and read.shape == array.shape
        and read.tobytes() == array.tobytes()
    )


@every_isolated_cache
@pytest.mark.parametrize("which", ARRAYS)
def test_an_array_comes_back_and_cannot_be_written(kind: str, which: str, directory: Path) -> None:
    array = ARRAYS[which]
    with opened(kind, directory, types=numpy_types()) as cache:
        cache.set("k", {"deep": [array]})
        (read,) = cache.get("k")["deep"]
        assert same(read, array)
        assert not read.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            read.flags.writeable = True
        copy = read.copy()
        copy[...] = copy
        assert same(copy, array)
        assert same(cache.get_or_set("l", lambda: array), array)
        # What was read can be stored again.
        cache.set("m", read)
        assert same(cache.get("m"), array)


def test_the_order_of_memory_is_kept_where_the_array_has_one(directory: Path) -> None:
    with opened("directory alone", directory, types=numpy_types()) as cache:
        for which, fortran in (("C order", False), ("Fortran order", True), ("backwards", False)):
            cache.set("k", ARRAYS[which])
            flags = cache.get("k").flags
            assert (flags.c_contiguous or which == "Fortran order") and flags.fnc == fortran


def test_programs_without_numpy_read_the_layout(directory: Path) -> None:
    with opened("directory", directory, types=numpy_types()) as cache:
        cache.set("a", ARRAYS["Fortran order"])
        cache.set("b", records())
    with Cache(directory) as cache:
        read = cache.get("a")
        assert read.name == "numpy.ndarray" and list(read.value) == [
            "dtype",
            "shape",
            "order",
            "data",
        ]
        assert read.value["dtype"] == "<i2" and read.value["shape"] == [2, 3, 4]
        assert read.value["order"] == "F"
        assert read.value["data"][:8] == bytes([0, 0, 12, 0, 4, 0, 16, 0])
        assert cache.get("b").value["dtype"] == {
            "names": ["seen", "place", "inner", "name"],
            "formats": [
                "|b1",
                [">f4", [2, 3]],
                {"names": ["when"], "formats": ["<M8[s]"], "offsets": [0], "itemsize": 8},
                "<U3",
            ],
            "offsets": [40, 0, 24, 44],
            "itemsize": 64,
        }


@every_isolated_cache
def test_what_one_changes_after_set_is_not_seen(kind: str, directory: Path) -> None:
    with opened(kind, directory, types=numpy_types()) as cache:
        array = np.zeros(3)
        cache.set("k", array)
        array[0] = 1
        assert cache.get("k")[0] == 0


class Sub(np.ndarray):  # type: ignore[misc]
    pass


REFUSED: dict[str, Any] = {
    "objects": np.array([object()]),
    "objects in records": np.zeros(1, [("a", "i4"), ("b", "O")]),
    "objects in parts of records": np.zeros(1, [("a", [("b", "O", 2)])]),
    "long double": np.zeros(1, np.longdouble),
    "complex long double": np.zeros(1, np.clongdouble),
    "metadata": np.zeros(1, np.dtype("i4", metadata={"a": 1})),
    "titles": np.zeros(1, np.dtype([(("Title", "a"), "i4")])),
    "fields over each other": np.zeros(
        1, np.dtype({"names": ["a", "b"], "formats": ["<i4", "<i4"], "offsets": [0, 0]})
    ),
    "records of nothing": np.zeros(1, np.dtype([])),
    "a subclass": np.zeros(1).view(Sub),
    "masked": np.ma.masked_array([1], [True]),
}
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    REFUSED["text of any length"] = np.array(["a"], np.dtypes.StringDType())


@every_isolated_cache
@pytest.mark.parametrize("which", REFUSED)
def test_what_would_be_lost_is_refused(kind: str, which: str, directory: Path) -> None:
    with opened(kind, directory, types=numpy_types()) as cache:
        cache.set("k", 1)
        with pytest.raises(UnsupportedValue) as error:
            cache.set("k", [0, REFUSED[which]])
        assert error.value.path == "$[1]"
        assert cache.get("k") in (1, None)


def test_the_reasons_say_what_to_do() -> None:
    with Cache(types=numpy_types()) as cache:
        with pytest.raises(UnsupportedValue, match="pickle; convert it"):
            cache.set("k", REFUSED["objects"])
        with pytest.raises(UnsupportedValue, match="float64"):
            cache.set("k", REFUSED["long double"])


GOOD: dict[str, Any] = {"dtype": "<i4", "shape": [2], "order": "C", "data": bytes(8)}
FIELD: dict[str, Any] = {"names": ["a"], "formats": ["<i4"], "offsets": [0], "itemsize": 4}
WRONG: dict[str, Any] = {
    "no dict": [1],
    "nothing": {},
    "no data": {key: part for key, part in GOOD.items() if key != "data"},
    "too few bytes": {**GOOD, "data": bytes(7)},
    "too many bytes": {**GOOD, "data": bytes(9)},
    "bytes that are text": {**GOOD, "data": "12345678"},
    "bytes that are a list": {**GOOD, "data": [0] * 8},
    "a shape that is larger": {**GOOD, "shape": [3]},
    "a shape that is huge": {**GOOD, "shape": [2**62, 4]},
    "a huge shape of nothing": {**GOOD, "shape": [2**62, 0, 2**62], "data": b""},
    "lengths below 0": {**GOOD, "shape": [-1, -2]},
    "lengths that are no integers": {**GOOD, "shape": [2.0]},
    "a length that is a bool": {**GOOD, "shape": [True, 2]},
    "a shape that is a number": {**GOOD, "shape": 2},
    "too many dimensions": {**GOOD, "shape": [1] * 100 + [2]},
    "another order": {**GOOD, "order": "A"},
    "objects": {**GOOD, "dtype": "|O", "shape": [1]},
    "objects of a size": {**GOOD, "dtype": "|O8", "shape": [1]},
    "text of any length": {**GOOD, "dtype": "|T16", "shape": [1], "data": bytes(16)},
    "a dtype without an order of bytes": {**GOOD, "dtype": "i4"},
    "a dtype with a comma": {**GOOD, "dtype": "<i2,<i2"},
    "an unknown dtype": {**GOOD, "dtype": "<i3"},
    "an unknown unit": {**GOOD, "dtype": "<M8[xx]", "shape": [1]},
    "a unit of 0": {**GOOD, "dtype": "<M8[0s]", "shape": [1]},
    "a dtype without bytes": {**GOOD, "dtype": "|S0", "data": b""},
    "a dtype that is huge": {**GOOD, "dtype": "<U999999999", "shape": [1]},
    "a dtype that is a number": {**GOOD, "dtype": 4},
    "bools that are neither": {**GOOD, "dtype": "|b1", "data": b"\x01\x02"},
    "bools in records that are neither": {
        **GOOD,
        "dtype": {"names": ["a"], "formats": [["|b1", [2]]], "offsets": [1], "itemsize": 4},
        "data": bytes([0, 1, 0, 0, 0, 1, 9, 0]),
    },
    "records without fields' names": {**GOOD, "dtype": {**FIELD, "names": []}},
    "records without fields": {
        **GOOD,
        "dtype": {"names": [], "formats": [], "offsets": [], "itemsize": 4},
    },
    "records with more names than fields": {**GOOD, "dtype": {**FIELD, "names": ["a", "b"]}},
    "records whose names are text": {**GOOD, "dtype": {**FIELD, "names": "a"}},
    "records with objects": {**GOOD, "dtype": {**FIELD, "formats": ["|O"]}},
    "records with an object as the base": {**GOOD, "dtype": {**FIELD, "formats": [["|O8", [1]]]}},
    "a field behind the record": {**GOOD, "dtype": {**FIELD, "offsets": [1]}},
    "a field before the record": {**GOOD, "dtype": {**FIELD, "offsets": [-1]}},
    "a field far behind": {**GOOD, "dtype": {**FIELD, "offsets": [2**63]}},
    "two fields of one name": {
        **GOOD,
        "dtype": {
            "names": ["a", "a"],
            "formats": ["<i2", "<i2"],
            "offsets": [0, 2],
            "itemsize": 4,
        },
    },
    "fields over each other": {
        **GOOD,
        "dtype": {
            "names": ["a", "b"],
            "formats": ["<i4", "<i4"],
            "offsets": [0, 0],
            "itemsize": 4,
        },
    },
    "parts below 0": {**GOOD, "dtype": {**FIELD, "formats": [["<i4", [-1]]]}},
    "parts that are huge": {**GOOD, "dtype": {**FIELD, "formats": [["<i4", [2**40, 2**40]]]}},
    "records of nothing": {**GOOD, "dtype": {**FIELD, "itemsize": 0}, "data": b""},
}


@pytest.mark.parametrize("kind", ["directory alone", "directory", "no path"])
@pytest.mark.parametrize("which", WRONG)
def test_bytes_that_are_no_array_are_a_wrong_type(kind: str, which: str, directory: Path) -> None:
    with opened(kind, directory, types=numpy_types()) as cache:
        cache.set("k", {"it": Named("numpy.ndarray", WRONG[which])})
        with pytest.raises(WrongType) as error:
            cache.get("k")
        assert error.value.path == "$.it" and error.value.__cause__ is not None
        cache.set("k", Named("numpy.ndarray", GOOD))
        assert same(cache.get("k"), np.zeros(2, "<i4"))
        cache.set("k", Named("numpy.ndarray", {**GOOD, "dtype": FIELD}))
        assert cache.get("k")["a"].tolist() == [0, 0]


SCALARS: dict[str, Any] = {
    "bool": (np.bool_(True), True),
    "int8": (np.int8(-128), -128),
    "int64": (np.int64(-(2**63)), -(2**63)),
    "uint64": (np.uint64(2**64 - 1), 2**64 - 1),
    "float16": (np.float16(0.1), float(np.float16(0.1))),
    "float32": (np.float32(0.1), float(np.float32(0.1))),
    "float64": (np.float64("-inf"), float("-inf")),
}


@every_cache
@pytest.mark.parametrize("which", SCALARS)
def test_a_scalar_is_a_number_for_others(kind: str, which: str, directory: Path) -> None:
    scalar, written = SCALARS[which]
    with opened(kind, directory, types=numpy_types()) as cache:
        cache.set("k", [scalar])
        (read,) = cache.get("k")
        assert read == scalar and type(read) is type(scalar)
    if kind.startswith("directory"):
        with Cache(directory) as cache:
            assert cache.get("k") == [Named("numpy." + which, written)]
            assert type(cache.get("k")[0].value) is type(written)


def test_scalars_of_complex_numbers_and_times_are_arrays(directory: Path) -> None:
    scalars = [
        np.complex128(1 + 2j),
        np.complex64(3j),
        np.datetime64("2026-11-27T01:02:03.000000001"),
        np.datetime64("NaT"),
        np.timedelta64(3, "D"),
    ]
    with opened("directory", directory, types=numpy_types()) as cache:
        cache.set("k", scalars)
        read = cache.get("k")
        assert [type(one) for one in read] == [type(one) for one in scalars]
        assert str(read) == str(scalars) and read[2].dtype == scalars[2].dtype
        cache.set("k", Named("numpy.complex64", GOOD))
        with pytest.raises(WrongType):
            cache.get("k")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("numpy.int8", 128),
        ("numpy.uint8", -1),
        ("numpy.uint64", 2**64),
        ("numpy.int64", 1.0),
        ("numpy.int64", True),
        ("numpy.bool", 1),
        ("numpy.float64", "1"),
        ("numpy.float64", 10**400),
    ],
)
def test_a_number_that_does_not_fit_is_a_wrong_type(name: str, value: Any) -> None:
    with Cache(types=numpy_types()) as cache:
        cache.set("k", Named(name, value))
        with pytest.raises(WrongType):
            cache.get("k")


def test_a_float_may_have_lost_its_fraction_in_javascript() -> None:
    with Cache(types=numpy_types()) as cache:
        cache.set("k", Named("numpy.float64", 2))
        assert type(cache.get("k")) is np.float64


def test_arrays_beside_types_of_the_program() -> None:
    class Model:
        def __init__(self, weights: Any) -> None:
            self.weights = weights

    model = Type(Model, encode=lambda one: one.weights, decode=Model)
    with Cache(types={**numpy_types(), "model": model}) as cache:
        cache.set("k", Model(np.arange(3)))
        assert same(cache.get("k").weights, np.arange(3))
    with pytest.raises(InvalidArgument, match="two names"):
        Cache(types={**numpy_types(), "array": Type(np.ndarray, encode=list, decode=np.array)})


async def test_asyncio(directory: Path) -> None:
    async with AsyncCache(directory, limit="4MiB", types=numpy_types()) as cache:

        async def load() -> Any:
            return np.arange(3)

        assert same(await cache.get_or_set("k", load), np.arange(3))
        assert same(await cache.get("k"), np.arange(3))


BIG = 8 << 20


@pytest.mark.parametrize("fortran", [False, True])
def test_encoding_copies_once_and_decoding_not_at_all(fortran: bool) -> None:
    one = numpy_types()["numpy.ndarray"]
    assert one.encode is not None and one.decode is not None
    array = np.ones((BIG // 2, 2), "u1", order="F" if fortran else "C")
    parts = array[::2] if not fortran else array
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        layout = one.encode(parts)
        assert type(layout["data"]) is bytes
        assert tracemalloc.get_traced_memory()[1] - before < parts.nbytes + BIG // 16
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        read = one.decode(layout)
        assert tracemalloc.get_traced_memory()[1] - before < BIG // 16
    finally:
        tracemalloc.stop()
    assert np.shares_memory(read, np.frombuffer(layout["data"], "u1"))


def test_readers_share_the_bytes_without_a_directory() -> None:
    with Cache(types=numpy_types()) as cache:
        cache.set("k", np.arange(1000))
        assert np.shares_memory(cache.get("k"), cache.get("k"))


PROGRAM = """
import sys
import polycache.arrays
assert "numpy" not in sys.modules and "pyarrow" not in sys.modules
sys.modules["numpy"] = sys.modules["pyarrow"] = None
for name in ("numpy", "arrow"):
    try:
        getattr(polycache.arrays, name + "_types")()
    except ImportError as error:
        assert f'pip install "polycache[{name}]"' in str(error), error
    else:
        raise AssertionError(name)
"""


def test_a_library_is_imported_when_it_is_asked_for() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], check=True)
