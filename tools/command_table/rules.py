"""Key specs of a server as rules of spec/commands.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .server import KeySpec

Rule = list[Any]


class Unsaid(Exception):
    """The key spec leaves something open, so an override has to say it."""


def rules(specs: Sequence[KeySpec]) -> list[Rule]:
    found: list[Rule] = []
    for spec in specs:
        rule = _rule(spec)
        if found and _follows(found[-1], rule):
            found[-1][2] = rule[2]
        else:
            found.append(rule)
    return found


def _rule(spec: KeySpec) -> Rule:
    if spec.begin != "index":
        raise Unsaid(f"its keys begin at: {spec.begin}")
    if odd := spec.flags & {"not_key", "incomplete", "variable_flags"} - {"variable_flags"}:
        raise Unsaid(f"its key spec is flagged {' '.join(sorted(odd))}")
    first: int = spec.begin_spec["index"]
    find = spec.find_spec
    if spec.find == "keynum" and find["keystep"] == 1:
        return ["numkeys", first + find["keynumidx"], first + find["firstkey"]]
    if spec.find == "range" and find["limit"] in (0, 1):
        last = find["lastkey"]
        return ["key", first, last if last < 0 else first + last, find["keystep"]]
    raise Unsaid(f"its keys are found by: {spec.find} {find}")


def _follows(before: Rule, rule: Rule) -> bool:
    """Two ranges of neighbours are one."""
    return bool(
        before[0] == rule[0] == "key"
        and before[3] == rule[3] == 1
        and before[2] >= 0
        and before[2] + 1 == rule[1]
    )
