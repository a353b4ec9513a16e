from __future__ import annotations

import json
from pathlib import Path

import pytest

import generate
from driver.records import SAMPLE, BadInput, Records, find, json_lines, stanzas


def of_json(*records: object) -> dict[str, str]:
    return json_lines(map(json.dumps, records), "test", 100).texts


def test_stanzas_begin_with_the_package() -> None:
    text = "Status: installed\nPackage: a\nDescription: x\n more\n\n\nPackage: b\n"
    found = stanzas(text, "test", 100)
    assert found.texts == {
        "a": "Package: a\nStatus: installed\nDescription: x\n more",
        "b": "Package: b",
    }


def test_the_same_package_twice_gets_two_keys() -> None:
    assert stanzas("Package: a\n\nPackage: a\n", "test", 100).keys == ["a", "a#2"]


def test_only_the_first_records_are_taken_and_the_rest_counted() -> None:
    found = stanzas("Package: a\n\nPackage: b\n\nPackage: c\n", "test", 2)
    assert (found.keys, found.total) == (["a", "b"], 3)


def test_a_json_record_becomes_fields() -> None:
    record = {"id": 7, "depends": ["x", "y z"], "Description": "one\n\nthree", "price": 1.5}
    assert of_json(record) == {
        "7": "Package: 7\nid: 7\nDepends: x, y z\nDescription: one\n \n three\nprice: 1.5"
    }


def test_a_json_record_without_a_name_is_named_by_its_line() -> None:
    assert list(of_json({"x": 1}, {"name": "two words"}, {"name": "one"})) == [
        "line-1",
        "line-2",
        "one",
    ]


def test_no_field_of_a_json_record_can_pass_for_another_record() -> None:
    assert of_json({"Package": "a", "x": "\n\nPackage: b"}) == {
        "a": "Package: a\nx: \n \n Package: b"
    }


def test_a_line_that_is_no_object_is_named() -> None:
    with pytest.raises(BadInput, match="line 2"):
        json_lines(['{"a": 1}', "[1]"], "test", 100)
    with pytest.raises(BadInput, match="line 1"):
        json_lines(["{"], "test", 100)


def test_an_empty_input_is_refused() -> None:
    with pytest.raises(BadInput, match="no record"):
        json_lines([], "test", 100)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="absent"):
        find(str(tmp_path / "absent.jsonl"), 100)


def test_every_record_in_the_file_stands_between_empty_lines(tmp_path: Path) -> None:
    Records("test", 2, {"a": "Package: a\nx: 1", "b": "Package: b"}).write(tmp_path / "records")
    assert (tmp_path / "records").read_text() == "\nPackage: a\nx: 1\n\nPackage: b\n\n"


def test_the_sample_is_what_its_generator_writes() -> None:
    assert SAMPLE.read_text() == generate.packages(), "run examples/demo/sample/generate.py"
    assert len(stanzas(SAMPLE.read_text(), "sample", 1000).keys) == generate.COUNT
