"""Which values a memory tier without room keeps: spec/vectors/admission.json."""

import json
from pathlib import Path
from typing import Any

import pytest
from vectors import FOLDER

from polycache import Cache

CASES = json.loads((FOLDER / "admission.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_admission(directory: Path, case: dict[str, Any]) -> None:
    entries: int = case["max_entries"]
    with (
        Cache(directory, limit="4MiB") as writer,
        Cache(directory, memory={"max_entries": entries}) as cache,
    ):
        writer.set_many({str(key): f"value {key}" for key in range(200)})
        for step in case["steps"]:
            if step[0] == "write":
                cache.set(str(step[1]), f"value {step[1]}")
                continue
            if step[0] == "delete":
                cache.delete(str(step[1]))
                continue
            _, first, last, hits = step
            before = cache.stats().memory_hits
            for key in range(first, last + 1):
                assert cache.get(str(key)) == f"value {key}"
            assert cache.stats().memory_hits - before == hits, step


def test_without_room_in_bytes_a_value_is_kept_when_it_is_read_again(directory: Path) -> None:
    with Cache(directory, limit="4MiB", memory={"max_bytes": "64KiB"}) as cache:
        for key in range(200):
            cache.set(str(key), "v" * 1000)
        # Far more than there is room for, several times: what is kept are the first ones.
        for _ in range(3):
            for key in range(200):
                cache.get(str(key))
        before = cache.stats().memory_hits
        for key in range(20):
            cache.get(str(key))
        assert cache.stats().memory_hits - before == 20
