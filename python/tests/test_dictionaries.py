"""Dictionaries: spec/vectors, and a cache that compresses with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tagged import tagged_of, value_of
from vectors import rows

import polycache
from polycache import Cache, InvalidArgument, PolycacheError, UnknownDictionary
from polycache._native import decode_entry

KNOWN = {row["name"]: bytes.fromhex(row["dictionary"]) for row in rows("dictionaries.json")}
ENTRIES = rows("dictionary_entries.json")


@pytest.mark.parametrize("row", ENTRIES, ids=[row["name"] for row in ENTRIES])
def test_vectors_give_their_value_or_error(row: dict[str, Any]) -> None:
    dictionaries = [KNOWN[name] for name in row["dictionaries"]] or None
    entry = bytes.fromhex(row["entry"])
    if "error" in row:
        with pytest.raises(PolycacheError) as caught:
            decode_entry(entry, dictionaries=dictionaries)
        assert caught.value.code == row["error"]
    else:
        found = decode_entry(entry, dictionaries=dictionaries)
        assert tagged_of(found["value"]) == tagged_of(value_of(row["value"]))


def test_a_cache_writes_with_the_first_and_reads_with_all(tmp_path: Path) -> None:
    first, second = KNOWN["first"], KNOWN["second"]
    user = {"id": 7, "name": "user 7", "city": "Chur", "roles": ["reader"], "active": True}

    def cache(*dictionaries: bytes) -> Cache:
        return Cache(tmp_path, compressor="zstd", memory=False, dictionaries=dictionaries or None)

    with cache(first) as old, cache(second, first) as both, cache(second) as new:
        old.set("k", user)
        assert both.get("k") == user
        with pytest.raises(UnknownDictionary):
            new.get("k")
        with cache() as without, pytest.raises(UnknownDictionary):
            without.get("k")
        both.set("k", user)
        assert new.get("k") == user


@pytest.mark.parametrize("wrong", [[], [b"no"], ["text"], b"bytes", 7, [KNOWN["first"]] * 2])
def test_what_is_no_list_of_dictionaries_is_refused(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(InvalidArgument):
        Cache(tmp_path, compressor="zstd", dictionaries=wrong)


def test_they_need_a_compressor(tmp_path: Path) -> None:
    with pytest.raises(polycache.InvalidArgument, match="compressor"):
        Cache(tmp_path, dictionaries=[KNOWN["first"]])
