"""Where packages differ from the table, and which reasons nothing needs any more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .package import Group, Item, Package
from .table import Claim, Kind, Reason, Table
from .words import class_name, normal, word

SPEC = "spec/api.toml"


@dataclass(frozen=True)
class Difference:
    language: str
    path: str
    """Of the word: `cache.methods.get`."""
    what: str
    """As in a claim."""
    help: str
    """What differs where, and what to do about it."""
    excusable: bool = True
    """Whether a reason may stand for it."""

    @property
    def claim(self) -> Claim:
        return Claim(self.language, self.path, self.what)

    def __str__(self) -> str:
        reason = f", or give the reason in {SPEC}: {self.claim}" if self.excusable else ""
        return self.help + reason


@dataclass(frozen=True)
class Row:
    """A word in one package; `item` is None where the package lacks it."""

    word: str
    item: Item | None
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Compared:
    """A package beside the table."""

    language: str
    rows: dict[str, dict[str, Row]]
    """By path of the kind and word; what is more in the package stands at the end."""

    @property
    def differences(self) -> list[Difference]:
        rows = [row for rows in self.rows.values() for row in rows.values()]
        return [one for row in rows for one in row.differences]


def compare(table: Table, package: Package) -> Compared:
    rows = {kind.path: _rows(table, kind, package) for kind in table.kinds}
    return Compared(package.language, rows)


def unexplained(table: Table, compared: Iterable[Compared]) -> list[Difference]:
    """Differences without a reason."""
    claims = [claim for reason in table.reasons for claim in reason.claims]
    return [
        one
        for package in compared
        for one in package.differences
        if not one.excusable
        or not any(claim.covers(one.language, one.path, one.what) for claim in claims)
    ]


def needless(table: Table, compared: Sequence[Compared]) -> list[str]:
    """Parts of reasons that no package needs any more, and those that are given twice."""
    found = []
    explained: dict[tuple[str, str, str], Reason] = {}
    languages = {package.language for package in compared}
    for reason in table.reasons:
        for claim in reason.claims:
            if claim.language not in languages:
                continue
            covered = covers(claim, compared)
            if not covered:
                found.append(
                    f"{SPEC}: nothing needs {claim} any more; take it out of the reason "
                    f"{reason.why!r}"
                )
            for one in covered:
                key = (one.language, one.path, one.what)
                if key in explained:
                    found.append(
                        f"{SPEC}: {one.claim} has two reasons: {explained[key].why!r} and "
                        f"{reason.why!r}; keep one"
                    )
                explained[key] = reason
    return found


def covers(claim: Claim, compared: Iterable[Compared]) -> list[Difference]:
    """The differences that a claim names."""
    return [
        one
        for package in compared
        for one in package.differences
        if one.excusable and claim.covers(one.language, one.path, one.what)
    ]


def _rows(table: Table, kind: Kind, package: Package) -> dict[str, Row]:
    group = dict(package.groups.get(kind.path, {}))
    spelled = _take_spelled(table, kind, package.language, group)
    rows = {}
    for name, expected in kind.words.items():
        path = f"{kind.path}.{name}"
        item = group.pop(name, None)
        if item is None and name in spelled:
            item = spelled[name]
        if item is None:
            rows[name] = Row(name, None, (_missing(package, kind, name),))
            continue
        found = [*_spelling(package, kind, name, item)]
        if kind.path.endswith((".options", ".memory")):
            found += _default(package, path, item, expected)
        else:
            found += _arguments(table, package, path, item, expected)
        rows[name] = Row(name, item, tuple(found))
    for name, item in group.items():
        rows[name] = Row(name, item, (_more(package, kind, name, item),))
    return rows


def _take_spelled(table: Table, kind: Kind, language: str, group: Group) -> dict[str, Item]:
    """Items that a reason says stand for a word under another name."""
    spelled = {}
    for reason in table.reasons:
        for claim in reason.claims:
            path, _, name = claim.path.rpartition(".")
            if claim.language != language or path != kind.path or not claim.what.startswith("as "):
                continue
            other = claim.what.removeprefix("as ")
            at = next((key for key, item in group.items() if item.name == other), None)
            # Where the word itself is there, or the other name isn't, nothing is spelled otherwise.
            if at is not None and at not in kind.words and name not in group:
                spelled[name] = group.pop(at)
    return spelled


def _missing(package: Package, kind: Kind, name: str) -> Difference:
    return Difference(
        package.language,
        f"{kind.path}.{name}",
        "missing",
        f"{package.title} lacks `{name}` of [{kind.path}]: write it in "
        f"{package.file_of(kind.path)}",
    )


def _more(package: Package, kind: Kind, name: str, item: Item) -> Difference:
    return Difference(
        package.language,
        f"{kind.path}.{name}",
        "more",
        f"{item.at}: `{item.name}` is not a word of [{kind.path}] in {SPEC}: rename it, remove it, "
        "or add it there",
    )


def _spelling(package: Package, kind: Kind, name: str, item: Item) -> Iterable[Difference]:
    if kind.path == "errors.errors":
        # The class of an error is called after its code.
        right = class_name(name)
        is_right = item.name == right
    else:
        right = name
        is_right = item.sign or word(item.name) == name
    if not is_right:
        yield Difference(
            package.language,
            f"{kind.path}.{name}",
            f"as {item.name}",
            f"{item.at}: `{item.name}` is called `{right}` elsewhere: rename it",
        )


def _default(
    package: Package, path: str, item: Item, expected: tuple[str, ...]
) -> Iterable[Difference]:
    name = path.rpartition(".")[2]
    if item.refused:
        yield Difference(
            package.language,
            path,
            "refused",
            f"{item.at}: `{item.name}` is documented, and the code takes no such option",
            excusable=False,
        )
    if item.required:
        said = "required"
    elif item.default is None:
        yield Difference(
            package.language,
            path,
            "default undocumented",
            f"{item.at}: the documentation of `{item.name}` doesn't end with `Default: X.` (in "
            f"{SPEC} it is {expected[0]!r}): write it",
            excusable=False,
        )
        return
    else:
        said = item.default
    if not any(_says(normal(said), normal(one)) for one in expected):
        yield Difference(
            package.language,
            path,
            f"default {normal(said)}",
            f"{item.at}: the default of `{item.name}` is {said!r}, and `{name}` in {SPEC} has "
            f"{expected[0]!r}: change one of them",
        )


def _says(said: str, expected: str) -> bool:
    """Also with an explanation behind it."""
    return re.fullmatch(rf"{re.escape(expected)}(?:[,;:( ].*)?", said, re.S) is not None


def _arguments(
    table: Table, package: Package, path: str, item: Item, expected: tuple[str, ...]
) -> Iterable[Difference]:
    def differs(what: str, help: str) -> Difference:
        return Difference(package.language, path, what, f"{item.at}: {help}")

    said = [table.arguments.get(one, one) for one in item.arguments]
    for one in expected:
        if one not in said:
            yield differs(f"without {one}", f"`{item.name}` takes no `{one}`: add it")
    for one in said:
        if one not in expected:
            yield differs(
                f"with {one}",
                f"`{item.name}` takes `{one}`: take it out, or add it to `{path}` in {SPEC}",
            )
    if item.alone:
        yield differs(
            "no twin", f"`{item.name}` is only synchronous or only asynchronous: write its twin"
        )
    # Beside its twin, so that what both differ in is one difference.
    given = item.arguments if item.twin is None else item.twin
    twin = [table.arguments.get(one, one) for one in given]
    for one in said:
        if one not in twin:
            yield differs(f"twin without {one}", f"the twin of `{item.name}` takes no `{one}`")
    for one in twin:
        if one not in said:
            yield differs(f"twin with {one}", f"only the twin of `{item.name}` takes `{one}`")
