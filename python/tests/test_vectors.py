"""spec/vectors: what every language wrote is read, and what is not an entry is refused."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import vectors
from tagged import as_python_has_it, tagged_of, value_of

from polycache import PolycacheError, UnsupportedValue, _native

WRITERS = sorted(path.name for path in vectors.FOLDER.glob("entries.*.json"))


def cases(file: str) -> pytest.MarkDecorator:
    rows = vectors.rows(file)
    return pytest.mark.parametrize("row", rows, ids=[row["name"] for row in rows])


def test_python_and_another_language_wrote_entries() -> None:
    assert "entries.python.json" in WRITERS
    assert len(WRITERS) > 1


@pytest.mark.parametrize("file", WRITERS)
def test_every_language_s_entries_are_read(file: str) -> None:
    for row in vectors.rows(file):
        read = _native.decode_entry(bytes.fromhex(row["entry"]))
        where = f"{file}: {row['name']}"
        assert tagged_of(read["value"]) == as_python_has_it(row["value"]), where
        for field in ("serializer", "compressor", "created", "expires", "fresh_until"):
            assert read[field] == row[field], where
        assert [[tag, str(number)] for tag, number in read["tags"]] == row["tags"], where


def test_python_s_entries_are_fresh() -> None:
    """Python still writes them so; a set may be written in any order."""
    for committed, fresh in zip(
        vectors.rows("entries.python.json"), vectors.python_rows(), strict=True
    ):
        if '"set"' in repr(committed["value"]).replace("'", '"'):
            committed, fresh = ({**row, "entry": None} for row in (committed, fresh))
        assert committed == fresh, "stale: python tests/vectors.py writes it anew"


@cases("values.json")
def test_a_value_is_written_by_the_serializers_that_have_it(row: dict[str, Any]) -> None:
    value = value_of(row["value"])
    for serializer in ("bytes", "text", "json", "messagepack"):
        if serializer in row["serializers"]:
            entry = _native.encode_entry(value, serializer=serializer)
            read = _native.decode_entry(entry)["value"]
            assert tagged_of(read) == as_python_has_it(row["value"])
        elif row["name"] not in ("float -0.0", "text 65536 bytes"):
            # The first JSON takes without a promise, the second is left out there for its size.
            with pytest.raises(UnsupportedValue):
                _native.encode_entry(value, serializer=serializer)


@contextmanager
def any_number_of_digits() -> Iterator[None]:
    digits = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(digits)


@cases("refused.json")
def test_a_refused_value_names_its_culprit(row: dict[str, Any]) -> None:
    value = value_of(row["value"])
    with any_number_of_digits(), pytest.raises(UnsupportedValue) as refusal:
        _native.encode_entry(value, serializer=row["serializer"])
    assert refusal.value.path == as_iterated(row, value)


def as_iterated(row: dict[str, Any], value: Any) -> str:
    """The path, in which a place in a set is that where Python's iteration comes to it."""
    path: str = row["path"]
    if not isinstance(value, set) or path == "$":
        return path
    culprit = as_python_has_it(row["value"]["set"][int(path[2:-1])])
    return f"$[{[tagged_of(one) for one in value].index(culprit)}]"


@cases("malformed.json")
def test_a_malformed_entry_has_its_error(row: dict[str, Any]) -> None:
    with pytest.raises(PolycacheError) as error:
        _native.decode_entry(bytes.fromhex(row["entry"]))
    assert error.value.code == row["error"]
