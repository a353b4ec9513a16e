"""The type map, both ways."""

import enum
import gc
import math
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal, localcontext
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tagged import tagged_of

from polycache import Cache, UnsupportedValue, _native

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
DECIMALS = st.decimals(allow_nan=False) | st.just(Decimal("NaN"))
MOMENTS = st.datetimes(
    datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC) | st.timezones()
)
SCALARS = JSON_SCALARS | st.integers() | st.floats() | st.binary() | DECIMALS | st.uuids() | MOMENTS


def nested(scalars: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=30
    )


def back(value: Any, serializer: str = "messagepack", compressor: str = "none") -> Any:
    entry = _native.encode_entry(value, serializer=serializer, compressor=compressor)
    return _native.decode_entry(entry)["value"]


def refused(value: Any, serializer: str = "messagepack") -> UnsupportedValue:
    with pytest.raises(UnsupportedValue) as refusal:
        _native.encode_entry(value, serializer=serializer)
    return refusal.value


@given(nested(SCALARS | st.sets(SCALARS)), st.sampled_from(["none", "zstd"]))
def test_messagepack_gives_back_what_it_took(value: Any, compressor: str) -> None:
    assert tagged_of(back(value, compressor=compressor)) == tagged_of(value)


@given(nested(JSON_SCALARS))
def test_json_gives_back_what_it_took(value: Any) -> None:
    # The sign of a zero is not promised, which == does not see.
    assert back(value, "json") == value


@given(TEXT, st.binary())
def test_text_and_bytes_are_stored_as_they_are(text: str, data: bytes) -> None:
    assert back(text, "text") == text
    assert back(data, "bytes") == data


@pytest.mark.parametrize(
    ("value", "comes_back"),
    [
        ((1, (2,)), [1, [2]]),
        (frozenset({1}), {1}),
        (bytearray(b"a"), b"a"),
        (memoryview(b"abcd")[::2], b"ac"),
        (
            datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
            datetime(2024, 1, 1, tzinfo=UTC),
        ),
        (Decimal("1.50"), Decimal("1.50")),
        (-(2**63) - 1, -(2**63) - 1),
    ],
)
def test_what_is_accepted_comes_back_as_the_type_map_says(value: Any, comes_back: Any) -> None:
    read = back(value)
    assert tagged_of(read) == tagged_of(comes_back)
    assert type(read) is type(comes_back)


def test_the_decimal_context_has_no_say() -> None:
    with localcontext(capitals=0, prec=3):
        assert tagged_of(back(Decimal("1.23456E+30"))) == {"decimal": "1.23456e+30"}
    assert back(Decimal("-0E-7")).as_tuple() == Decimal("-0E-7").as_tuple()


class Colour(enum.IntEnum):
    RED = 1


class Size(enum.StrEnum):
    BIG = "big"


class Text(str):
    __slots__ = ()


class Later(datetime):
    pass


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Colour.RED,
        Size.BIG,
        Text("a"),
        Later(2024, 1, 1, tzinfo=UTC),
        Point(1, 2),
        OrderedDict(a=1),
        defaultdict(int),
        1j,
        date(2024, 1, 1),
        time(1),
        timedelta(1),
        range(3),
        iter([]),
        Ellipsis,
        int,
        math,
    ],
    ids=repr,
)
def test_other_classes_are_refused_subclasses_too(value: Any) -> None:
    assert refused(value).path == "$"
    assert refused({"a": [0, value]}).path == "$.a[1]"


@pytest.mark.parametrize(
    "value",
    [
        datetime(2024, 1, 1),
        "\ud800",
        10**4300,
        Decimal("sNaN"),
        Decimal("NaN123"),
        Decimal("1E+1000000000"),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        {1: "a"},
        {"\ud800": 1},
        {Text("a"): 1},
    ],
    ids=[
        "naive",
        "surrogate",
        "digits",
        "sNaN",
        "NaN123",
        "exponent",
        "year 0",
        "int key",
        "surrogate key",
        "subclass key",
    ],
)
def test_instances_without_a_row_are_refused(value: Any) -> None:
    assert refused(value).path == "$"
    assert refused([{"a b": value}]).path == '$[0]["a b"]'


def test_the_first_culprit_in_writing_order_is_reported() -> None:
    assert refused([b"", object()], "json").path == "$[0]"
    assert refused([{"a": math.nan}, object()], "json").path == "$[0].a"
    assert refused([{"a": 1}, object(), b""], "json").path == "$[1]"
    assert refused({"a": {(1, 2)}, "b": object()}).path == "$.a[0]"
    assert "text only" in str(refused([object()], "text"))


def test_a_cycle_and_too_many_levels_are_refused() -> None:
    cycle: list[Any] = []
    cycle.append({"a": cycle})
    assert refused(cycle).path == "$" + "[0].a" * 64
    deep: Any = ()
    for _ in range(127):
        deep = [deep]
    assert back(deep)
    assert refused([deep]).path == "$" + "[0]" * 128


class Zone(tzinfo):
    """UTC, that does something when it is asked for its offset."""

    def __init__(self, act: Callable[[], None]) -> None:
        self.act = act

    def utcoffset(self, _: datetime | None) -> timedelta:
        self.act()
        return timedelta(0)

    def dst(self, _: datetime | None) -> None:
        return None

    def tzname(self, _: datetime | None) -> None:
        return None


def test_values_that_change_while_they_are_read() -> None:
    """A time zone is user code, and may do anything."""

    def forget() -> None:
        values.clear()
        gc.collect()

    moment = datetime(2024, 1, 1, tzinfo=Zone(forget))
    values: Any = ["x" * 100 + str(n) for n in range(3)] + [moment, "after"]
    assert back(values) == [
        *("x" * 100 + str(n) for n in range(3)),
        datetime(2024, 1, 1, tzinfo=UTC),
    ]
    values = {"text": "x" * 1000, "moment": moment, "after": 1}
    assert "changed" in str(refused(values))


def test_a_time_zone_that_fails_is_a_refusal() -> None:
    def fail() -> None:
        raise RuntimeError("no zone")

    assert "no zone" in str(refused(datetime(2024, 1, 1, tzinfo=Zone(fail))))


def test_each_get_makes_an_object_of_its_own(cache: Cache) -> None:
    cache.set("k", {"a": [1]})
    cache.get("k")["a"].append(2)
    assert cache.get("k") == {"a": [1]}


def test_large_values_go_through_the_compressor_and_back(directory: Any) -> None:
    with Cache(directory, limit="64MiB", compressor="zstd:1") as cache:
        value = {"text": "polycache " * 10_000, "data": bytes(100_000)}
        cache.set("k", value)
        assert cache.get("k") == value
        assert cache.stats().bytes < 64 << 20


def test_uuids_are_whole() -> None:
    assert back(UUID(int=2**128 - 1)) == UUID(int=2**128 - 1)
