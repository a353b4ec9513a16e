"""Encryption: spec/vectors, and what conformance cases cannot say."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import vectors
from tagged import as_python_has_it, tagged_of

from polycache import AsyncCache, Cache, InvalidArgument, PolycacheError, _native

WRITERS = sorted(path.name for path in vectors.FOLDER.glob("encrypted.*.json"))
SECRET = b"0123456789abcdefFEDCBA9876543210"
KEYS: Any = [{"id": 20261122, "key": SECRET}]


def test_python_and_another_language_wrote_encrypted_entries() -> None:
    assert "encrypted.python.json" in WRITERS
    assert len(WRITERS) > 1


@pytest.mark.parametrize("file", WRITERS)
def test_every_language_s_encrypted_entries_are_read(file: str) -> None:
    for row, recipe in zip(vectors.rows(file), vectors.rows("encryption.json"), strict=True):
        assert {**row, "value": as_python_has_it(row["value"]), "entry": None} == {
            **recipe,
            "value": as_python_has_it(recipe["value"]),
            "entry": None,
        }
        read = _native.decode_entry(
            bytes.fromhex(row["entry"]),
            encryption=vectors.keys_of(row),
            full_key=bytes.fromhex(row["full_key"]),
        )
        where = f"{file}: {row['name']}"
        assert tagged_of(read["value"]) == as_python_has_it(row["value"]), where
        for field in ("serializer", "compressor", "created", "expires", "fresh_until"):
            assert read[field] == row[field], where
        assert [[tag, str(number)] for tag, number in read["tags"]] == row["tags"], where


def test_python_still_writes_entries_of_that_form() -> None:
    for old, new in zip(
        vectors.rows("encrypted.python.json"), vectors.encrypted_rows(), strict=True
    ):
        committed, fresh = bytes.fromhex(old["entry"]), bytes.fromhex(new["entry"])
        nonce = int.from_bytes(fresh[22:24], "little") - 12
        assert len(committed) == len(fresh)
        assert (committed[:4], committed[8:nonce]) == (fresh[:4], fresh[8:nonce])
        assert committed[nonce : nonce + 12] != fresh[nonce : nonce + 12]


@pytest.mark.parametrize(
    "row", vectors.rows("encrypted_malformed.json"), ids=lambda row: str(row["name"])
)
def test_a_malformed_entry_has_its_error(row: dict[str, Any]) -> None:
    with pytest.raises(PolycacheError) as error:
        _native.decode_entry(
            bytes.fromhex(row["entry"]),
            encryption=vectors.keys_of(row),
            full_key=bytes.fromhex(row["full_key"]),
        )
    assert error.value.code == row["error"]


def test_no_value_lies_in_the_directory(directory: Path) -> None:
    with Cache(directory, limit="4MiB", encryption=KEYS) as cache:
        cache.set("card", {"number": "4111 1111 1111 1111"})
        assert cache.get("card") == {"number": "4111 1111 1111 1111"}
        stored = b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())
        assert b"4111" not in stored
        assert b"card" in stored  # Keys of the cache are not hidden.


def test_nothing_shows_a_key(directory: Path) -> None:
    with Cache(directory, limit="4MiB", encryption=KEYS, namespace="shop") as cache:
        for one in (cache, cache.namespace("users"), AsyncCache.over(cache)):
            assert "0123456789" not in f"{one!r} {one} {vars(one)}"
            with pytest.raises(InvalidArgument):
                pickle.dumps(one)
    for wrong in (SECRET.decode(), SECRET[1:], bytearray(SECRET), [SECRET]):
        with pytest.raises(InvalidArgument) as error:
            Cache(directory, encryption=[{"id": 1, "key": wrong}])  # type: ignore[typeddict-item]
        assert "123456789" not in str(error.value)
