"""What a value may weigh: spec/vectors/weights.json, and what a cache does with it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import LIMIT
from test_dictionaries import KNOWN
from vectors import keys_of, rows

from polycache import Cache, PolycacheError, ValueTooLarge
from polycache._native import decode_entry, encode_entry

ROWS = rows("weights.json")
HOSTILE = [row for row in ROWS if row["name"].startswith("hostile")]
MOST_MEMORY = 512 * 2**20
"""Bytes of a process that reads a hostile row. Without the limit on weights it has 5 GB."""


def read(row: dict[str, Any]) -> Any:
    dictionaries = [KNOWN[name] for name in row.get("dictionaries", [])]
    return decode_entry(
        bytes.fromhex(row["entry"]),
        encryption=keys_of(row) if "encryption" in row else None,
        full_key=bytes.fromhex(row.get("full_key", "")),
        dictionaries=dictionaries or None,
        max_value=row["max_value"],
    )["value"]


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_value_is_read_and_written_up_to_the_limit(row: dict[str, Any]) -> None:
    if "error" in row:
        with pytest.raises(PolycacheError) as error:
            read(row)
        assert error.value.code == row["error"]
        return
    value = read(row)
    for compressor in ("none", "zstd:1"):
        options = {
            "serializer": row["serializer"],
            "compressor": compressor,
            "max_value": row["max_value"],
        }
        encode_entry(value, **options)
        with pytest.raises(ValueTooLarge):
            encode_entry([*value, None], **options)


READER = """
import sys
from polycache import PolycacheError
from polycache._native import decode_entry

entry = bytes.fromhex(sys.stdin.read())
try:
    decode_entry(entry)
except PolycacheError as error:
    print(error.code)
with open("/proc/self/status") as status:
    peak = next(line for line in status if line.startswith("VmHWM:"))
print(int(peak.split()[1]) * 1024)
"""


@pytest.mark.parametrize("row", HOSTILE, ids=[row["name"] for row in HOSTILE])
def test_a_hostile_entry_takes_little_memory(row: dict[str, Any]) -> None:
    reader = [sys.executable, "-c", READER]
    said = subprocess.run(
        reader, input=row["entry"], capture_output=True, text=True, timeout=LIMIT, check=True
    )
    code, peak = said.stdout.split()
    assert code == row["error"]
    assert int(peak) < MOST_MEMORY


@pytest.mark.parametrize("options", [{}, {"compressor": "zstd"}, {"serializer": "json"}])
def test_a_cache_refuses_what_is_too_heavy(directory: Path, options: dict[str, Any]) -> None:
    lists = 262_143  # 4 MiB with the list around them
    with (
        Cache(directory, limit="1GiB", **options) as cache,
        Cache(directory, max_value="2MiB", **options) as cautious,
    ):
        cautious.set("k", [[]] * lists)
        assert cautious.get("k") == [[]] * lists
        cache.set("k", [[]] * (lists + 1))
        for look in (cautious.get, cautious.peek, cautious.take):
            with pytest.raises(ValueTooLarge):
                look("k")
        assert cache.get("k") == [[]] * (lists + 1)
        with pytest.raises(ValueTooLarge):
            cautious.replace("k", [[]] * (lists + 1))
        assert "k" in cache
        with pytest.raises(ValueTooLarge):
            cautious.set("k", [[]] * (lists + 1))
        assert "k" not in cache
        assert cautious.get_or_set("k", lambda: [[]] * (lists + 1)) == [[]] * (lists + 1)
        assert "k" not in cache
        assert cautious.stats().unstored == 1
