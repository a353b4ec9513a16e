"""What a package offers: its items in groups, as a language's reader found them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .words import default_of, word

LANGUAGES = ("rust", "typescript", "python", "ruby")
TITLES = {"rust": "Rust", "typescript": "TypeScript", "python": "Python", "ruby": "Ruby"}

# Methods that are a group's asynchronous or synchronous form, and fold into its rows.
TWINS = "twins"
OPTIONS = ("options", "memory")


@dataclass(frozen=True)
class Item:
    """A method, option, statistic, event, cause or error."""

    name: str
    """As its language spells it."""
    at: str = ""
    """`file:line`, relative to the repository."""
    arguments: tuple[str, ...] = ()
    """Words of a method's arguments, of what an event tells or an error carries."""
    default: str | None = None
    """An option's, as it is documented; None where that is missing."""
    required: bool = False
    """An option without which there is no cache."""
    sign: bool = False
    """The language's own way to write the word: `with` is `scope`."""
    refused: bool = False
    """An option that is documented, and that the code doesn't take."""
    twin: tuple[str, ...] | None = None
    """Arguments of its other form, asynchronous or synchronous; None without one."""
    alone: bool = False
    """It has no other form although its class has one."""

    @property
    def file(self) -> str:
        return self.at.partition(":")[0]


Group = dict[str, Item]


@dataclass(frozen=True)
class Package:
    language: str
    groups: dict[str, Group] = field(default_factory=dict)
    """By path: `cache.methods`."""

    @property
    def title(self) -> str:
        return TITLES[self.language]

    def file_of(self, path: str) -> str:
        """Where most items of a group stand: the place for one that is missing."""
        section = path.partition(".")[0]
        groups = [self.groups.get(path, {})]
        groups += [group for name, group in self.groups.items() if name.startswith(f"{section}.")]
        for group in groups:
            files = Counter(item.file for item in group.values() if item.file)
            if files:
                return files.most_common(1)[0][0]
        return "the package"


def package(language: str, said: Mapping[str, Mapping[str, Any]]) -> Package:
    """Of what a reader says: lists of items by section and kind."""
    groups = {
        f"{section}.{kind}": _group(kind, items)
        for section, kinds in said.items()
        for kind, items in kinds.items()
        if kind != TWINS
    }
    for section, kinds in said.items():
        path = f"{section}.methods"
        if path not in groups:
            continue
        if TWINS in kinds:
            groups[path] = _with_class(groups[path], _group("methods", kinds[TWINS]))
        else:
            groups[path] = _folded(groups[path], kinds["methods"])
    return Package(language, groups)


def _group(kind: str, items: Iterable[Mapping[str, Any]]) -> Group:
    return {
        said.get("code") or said.get("word") or word(said["name"]): _item(kind, said)
        for said in items
    }


def _item(kind: str, said: Mapping[str, Any]) -> Item:
    default = said.get("default")
    if default is None and kind in OPTIONS:
        default = default_of(said.get("doc", ""))
    return Item(
        name=said["name"],
        at=said.get("at", ""),
        arguments=tuple(word(one) for one in said.get("arguments", ())),
        default=default,
        required=said.get("required", False),
        sign="word" in said,
        refused=said.get("refused", False),
    )


def _with_class(group: Group, others: Group) -> Group:
    """Folds a class of the other form (`AsyncCache`) into the rows of the first."""
    folded = {
        name: replace(item, twin=others[name].arguments)
        if name in others
        else replace(item, alone=True)
        for name, item in group.items()
    }
    only = {name: item for name, item in others.items() if name not in group}
    return folded | {name: replace(item, alone=True) for name, item in only.items()}


def _folded(group: Group, said: Iterable[Mapping[str, Any]]) -> Group:
    """Folds names with `_sync` or `_async`, also before `_with_ttl`, into the others' rows."""
    folded = dict(group)
    for name in group:
        base = re.sub(r"_a?sync(?=_with_|$)", "", name)
        if base != name and base in folded:
            folded[base] = replace(folded[base], twin=folded.pop(name).arguments)
    # One that gives a promise and has no form without.
    for one in said:
        item = folded.get(word(one["name"]))
        if one.get("promise") and item is not None and item.twin is None:
            folded[word(one["name"])] = replace(item, alone=True)
    return folded
