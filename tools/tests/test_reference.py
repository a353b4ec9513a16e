"""How the tools that make the references say what they miss."""

from __future__ import annotations

import reference
from reference import Findings, typedoc_said, yard_listed, yard_warned

TYPEDOC = """\
[warning] index.Cache.[dispose] (CallSignature), defined in polycache/src/cache.ts, does not have any documentation
[warning] Failed to resolve link to "Nowhere" in comment for index.Cache
[info] html generated at ./out
[warning] Found 0 errors and 2 warnings
"""  # noqa: E501

YARD = """\
[warn]: @param tag has unknown parameter name: path
    in file `lib/polycache/cache.rb' near line 91
[warn]: In file `lib/polycache/cache.rb':9: Cannot resolve link to Nowhere from text:
Files:          10
"""

UNDOCUMENTED = """\
 96.00% documented

Undocumented Objects:
Polycache::Cache#get              (lib/polycache/cache.rb:12)
Polycache::MISSING.inspect        (lib/polycache/cache.rb:39)
"""


def test_typedoc_tells_broken_links_from_what_is_undocumented() -> None:
    found = typedoc_said(0, TYPEDOC)
    assert found.undocumented == {"index.Cache.[dispose]"}
    assert found.problems == [
        '[warning] Failed to resolve link to "Nowhere" in comment for index.Cache'
    ]


def test_a_tool_that_fails_without_a_word_is_a_problem() -> None:
    assert typedoc_said(3, "no such file").problems == ["no such file"]


def test_yard_warns_of_links_and_lists_what_is_undocumented() -> None:
    assert [line.partition(":")[2][:8] for line in yard_warned(YARD)] == [" In file"]
    assert yard_listed(UNDOCUMENTED) == {"Polycache::Cache#get", "Polycache::MISSING.inspect"}


def test_only_what_is_not_known_yet_fails(monkeypatch, capsys) -> None:
    monkeypatch.setattr(reference, "known", lambda: {"Old"})

    def counts(**found) -> str:
        monkeypatch.setitem(reference.REFERENCES, "ruby", ("", lambda: Findings(**found)))
        return str(reference.check("ruby"))

    assert counts(undocumented={"Old"}) == "1 passed, 0 failed, 0 skipped"
    assert counts(undocumented={"Old", "New"}) == "0 passed, 1 failed, 0 skipped"
    assert "New is public and has no documentation" in capsys.readouterr().out
    assert counts(problems=["a broken link"]) == "0 passed, 1 failed, 0 skipped"
