"""That packages are compared with spec/api.toml: every kind of difference is planted and found."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest

import api
from api_table import table as spec
from api_table.compare import compare, needless, unexplained
from api_table.package import package
from api_table.page import page
from api_table.words import default_of, normal, word

TABLE = """
[arguments]
loader = ["load"]

[cache]
title = "`Cache`"
methods = ["get(key, default)", "get_or_set(key, loader)", "closed"]
statistics = ["hits"]

[cache.options]
ttl = ["none", "for ever"]
path = "required"

[errors]
title = "Errors"
errors = ["io(retryable)"]
"""

# A reader's answer in which nothing differs.
SAID = {
    "cache": {
        "methods": [
            {"name": "get", "at": "cache.py:1", "arguments": ["key", "default"]},
            {"name": "getOrSet", "at": "cache.py:2", "arguments": ["key", "load"]},
            {"name": "closed?", "at": "cache.py:3", "arguments": []},
        ],
        "options": [
            {"name": "ttl", "at": "options.py:1", "doc": "How long. Default: None."},
            {"name": "path", "at": "options.py:2", "doc": "Where.", "required": True},
        ],
        "statistics": [{"name": "hits", "at": "stats.py:1"}],
    },
    "errors": {
        "errors": [{"name": "Io", "code": "io", "at": "errors.py:1", "arguments": ["retryable"]}]
    },
}


def said() -> dict:
    return deepcopy(SAID)


def differences(found: dict, reasons: str = "", language: str = "python") -> list[str]:
    table = spec.read(TABLE + reasons)
    return [str(one) for one in unexplained(table, [compare(table, package(language, found))])]


def needless_parts(found: dict, reasons: str) -> list[str]:
    table = spec.read(TABLE + reasons)
    return needless(table, [compare(table, package("python", found))])


def reason(*differences: str, why: str = "The language has another way.") -> str:
    return f'\n[[reason]]\nwhy = "{why}"\npython = {list(differences)}\n'.replace("'", '"')


def test_nothing_differs_in_another_spelling() -> None:
    assert differences(said()) == []


def test_a_missing_method_is_found_and_says_where_to_write_it() -> None:
    found = said()
    del found["cache"]["methods"][0]
    assert differences(found) == [
        "Python lacks `get` of [cache.methods]: write it in cache.py, or give the reason in "
        'spec/api.toml: python = ["cache.methods.get missing"]'
    ]
    assert differences(found, reason("cache.methods.get missing")) == []


def test_a_method_that_only_one_package_has_is_found() -> None:
    found = said()
    found["cache"]["methods"].append({"name": "rename", "at": "cache.py:9", "arguments": []})
    [told] = differences(found)
    assert told.startswith("cache.py:9: `rename` is not a word of [cache.methods]")
    assert 'python = ["cache.methods.rename more"]' in told
    assert differences(found, reason("cache.methods.rename more")) == []


def test_another_word_is_one_difference_only_with_its_reason() -> None:
    found = said()
    found["cache"]["methods"][0]["name"] = "fetch"
    assert [one.partition(":")[0] for one in differences(found)] == [
        "Python lacks `get` of [cache.methods]",
        "cache.py",
    ]
    assert differences(found, reason("cache.methods.get as fetch")) == []


def test_arguments_are_compared() -> None:
    found = said()
    found["cache"]["methods"][0]["arguments"] = ["key", "fallback"]
    without, more = differences(found)
    assert "`get` takes no `default`" in without
    assert "`get` takes `fallback`" in more
    explained = reason("cache.methods.get without default", "cache.*.get with fallback")
    assert differences(found, explained) == []


def test_another_default_is_found() -> None:
    found = said()
    found["cache"]["options"][0]["doc"] = "How long. Default: 5m."
    [told] = differences(found)
    assert told.startswith("options.py:1: the default of `ttl` is '5m'")
    assert "`ttl` in spec/api.toml has 'none'" in told
    assert differences(found, reason("cache.options.ttl default 5m")) == []


def test_one_part_of_a_reason_may_name_several_words() -> None:
    found = said()
    del found["cache"]["methods"][:2]
    for part in ("cache.methods.{get, get_or_set} missing", "{cache,lease}.methods.get* missing"):
        assert differences(found, reason(part)) == []


def test_any_wording_of_a_default_will_do_also_with_an_explanation() -> None:
    found = said()
    for text in ("for ever", "`nil`", "none, until it is evicted"):
        found["cache"]["options"][0]["doc"] = f"How long. Default: {text}."
        assert differences(found) == []


def test_an_option_must_say_its_default_and_no_reason_excuses_it() -> None:
    found = said()
    found["cache"]["options"][0]["doc"] = "How long; for ever by default."
    [told] = differences(found)
    assert told == (
        "options.py:1: the documentation of `ttl` doesn't end with `Default: X.` (in spec/api.toml "
        "it is 'none'): write it"
    )
    with pytest.raises(spec.Malformed):
        differences(found, reason("cache.options.ttl undocumented"))
    assert differences(found, reason("cache.options.ttl default undocumented")) == [told]


def test_a_required_option_that_has_a_default_is_found() -> None:
    found = said()
    found["cache"]["options"][1] |= {"required": False, "doc": "Where. Default: none."}
    [told] = differences(found)
    assert "`path` is 'none'" in told


def test_statistics_and_errors_are_compared() -> None:
    found = said()
    found["cache"]["statistics"] = [{"name": "reads", "at": "stats.py:1"}]
    found["errors"]["errors"][0] |= {"name": "IoError", "arguments": []}
    told = differences(found)
    assert [one.rpartition("[")[2] for one in told] == [
        '"cache.statistics.hits missing"]',
        '"cache.statistics.reads more"]',
        '"errors.errors.io as IoError"]',
        '"errors.errors.io without retryable"]',
    ]


def test_a_reason_of_another_language_is_none() -> None:
    found = said()
    del found["cache"]["methods"][0]
    other = reason("cache.methods.get missing").replace("python", "ruby")
    assert len(differences(found, other)) == 1


def test_a_reason_that_nothing_needs_is_found() -> None:
    for part in (
        "cache.methods.get missing",
        "cache.methods.get as fetch",
        "cache.methods.put more",
        "cache.options.ttl default 5m",
        "*.methods.* with signal",
    ):
        [told] = needless_parts(said(), reason(part))
        assert f'nothing needs python = ["{part}"] any more' in told
        assert "The language has another way." in told


def test_a_difference_with_two_reasons_is_found() -> None:
    found = said()
    del found["cache"]["methods"][0]
    twice = reason("cache.methods.get missing") + reason("cache.methods.* missing", why="It is so.")
    [told] = needless_parts(found, twice)
    assert "has two reasons: 'The language has another way.' and 'It is so.'" in told


def test_a_class_of_the_other_form_folds_into_the_rows_and_may_lack_nothing() -> None:
    found = said()
    found["cache"]["twins"] = deepcopy(found["cache"]["methods"])
    assert differences(found) == []
    found["cache"]["twins"][0]["arguments"] = ["key"]
    del found["cache"]["twins"][1]
    assert [one.rpartition("[")[2] for one in differences(found)] == [
        '"cache.methods.get twin without default"]',
        '"cache.methods.get_or_set no twin"]',
    ]


def test_names_of_the_other_form_fold_into_the_rows() -> None:
    found = said()
    get = found["cache"]["methods"][0]
    get["promise"] = True
    assert [one.rpartition("[")[2] for one in differences(found)] == [
        '"cache.methods.get no twin"]'
    ]
    found["cache"]["methods"].append(get | {"name": "getSync", "promise": False})
    assert differences(found) == []


def test_a_reason_must_be_a_sentence_and_its_parts_must_be_understood() -> None:
    for reasons in (
        reason("cache.methods.get missing", why="no sentence"),
        reason("cache.methods.get gone"),
        reason("get missing"),
        '\n[[reason]]\nwhy = "It explains nothing at all."\n',
        reason("cache.methods.get missing").replace("python", "perl"),
    ):
        with pytest.raises(spec.Malformed):
            spec.read(TABLE + reasons)


def test_each_package_and_its_reasons_count_as_tests(capsys) -> None:
    table = spec.read(TABLE + reason("cache.methods.get missing"))
    counts = api.report(table, [compare(table, package("python", said()))])
    assert str(counts) == "1 passed, 1 failed, 0 skipped"
    assert "FAILED  every reason of Python is needed" in capsys.readouterr().out


def test_a_stale_page_fails_the_check(monkeypatch, tmp_path: Path, capsys) -> None:
    monkeypatch.setattr(api, "ROOT", tmp_path)
    monkeypatch.setattr(api, "PAGE", tmp_path / "api.md")
    assert api.written("new", checks=True).failed == 1
    assert api.written("new", checks=False).passed == 1
    assert api.written("new", checks=True).passed == 1
    assert api.written("newer", checks=True).failed == 1
    assert "it is stale: run `make api`" in capsys.readouterr().out


def test_the_page_has_a_row_a_word_a_column_a_language_and_the_reasons() -> None:
    reasons = reason("cache.methods.get without default", "cache.methods.rename more")
    other = reason("cache.methods.closed missing", why="Ruby is Ruby.").replace("python", "ruby")
    table = spec.read(TABLE + reasons + other)
    python, ruby = said(), said()
    python["cache"]["methods"][0]["arguments"] = ["key"]
    python["cache"]["methods"].append({"name": "rename", "at": "", "arguments": []})
    python["cache"]["twins"] = python["cache"]["methods"]
    del ruby["cache"]["methods"][2]
    packages = [package("ruby", ruby), package("python", python)]
    lines = page(table, [compare(table, one) for one in packages]).splitlines()
    assert "| | Python | Ruby |" in lines
    assert "| `get(key, default)` | `get(key)` ⇄ <sup>1</sup> | `get` |" in lines
    assert "| `closed` | `closed?` ⇄ | no <sup>2</sup> |" in lines
    assert "| `ttl` | none | `ttl` | `ttl` |" in lines
    assert "- Python has `rename` too. <sup>1</sup>" in lines
    assert lines[lines.index("### Reasons") + 2 :][:2] == [
        "1. The language has another way.",
        "2. Ruby is Ruby.",
    ]


def test_words_and_defaults_have_one_form() -> None:
    spelled = ("getOrSet", "has?", "get_or_set", "noUpdateTTL", "[]=", "Replaced")
    assert [word(name) for name in spelled] == [
        "get_or_set",
        "has",
        "get_or_set",
        "no_update_ttl",
        "[]=",
        "replaced",
    ]
    assert default_of("Say `Default: 1.` first.\nDefault: 64\n MiB.") == "64 MiB"
    assert default_of("One. Default: 30s. It is long.") == "30s. It is long"
    assert default_of("By default 30 s.") is None
    same = ("64MiB", "`64 MiB`", "+64MiB+", '"64mib"')
    assert {normal(one) for one in same} == {"64mib"}
    assert normal("the system\u2019s") == normal("the system's")
    assert normal("10_000") == normal("10,000") == "10000"
    assert normal("StoreErrors::Report") == normal(":report") == normal('"report"') == "report"
    assert {normal(one) for one in ("nil", "None", "null", "undefined")} == {"none"}
