"""spec/api.md: the table as people read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .compare import Compared, Difference, Row, covers
from .package import LANGUAGES, OPTIONS, TITLES, Item
from .table import Kind, Reason, Section, Table
from .words import normal

HEAD = """\
# The API in four languages

<!-- `make api` writes this page from the packages and from spec/api.toml. Change those. -->

Spelling follows the language: `get_or_set` is `getOrSet` in TypeScript, and Ruby asks with `has?`.
The word is the same, and so is its meaning ([semantics.md](semantics.md), [memory.md](memory.md),
[commands.md](commands.md), [errors.md](errors.md)).

- ⇄ marks a method that has a synchronous and an asynchronous form: `get` and `getSync` in
  TypeScript, the methods of `Cache` and `AsyncCache` in Rust and Python, `get_or_set` and
  `get_or_set_async`. Ruby needs no second form: its methods let other threads and fibers run.
- A language's column has arguments and a default only where they differ from the row's.
- `no` means that the package lacks the word. A small number is the reason for a difference; the
  reasons stand at the end of each section.
"""

# In the order of the page.
KINDS = {
    "methods": "Methods",
    "options": "Options",
    "memory": "Options of the memory tier: `memory`",
    "events": "Events",
    "causes": "Why an entry left: the cause",
    "statistics": "Statistics: `stats`",
    "entry": "What `entry` tells",
    "check": "What `check` tells",
    "errors": "",
}
# What stands beside a word, and in whose terms.
BESIDE = {"options": "default", "memory": "default", "events": "told", "errors": "carries"}


def page(table: Table, packages: Sequence[Compared]) -> str:
    ordered = sorted(packages, key=lambda one: LANGUAGES.index(one.language))
    return "\n".join([HEAD, *(_section(table, one, ordered) for one in table.sections)])


def _section(table: Table, section: Section, packages: Sequence[Compared]) -> str:
    reasons = _reasons(table, section, packages)
    parts = [f"## {section.title}\n"]
    if section.about:
        parts.append(f"{section.about}\n")
    for kind in sorted(section.kinds, key=lambda one: [*KINDS].index(one.path.partition(".")[2])):
        title = KINDS[kind.path.partition(".")[2]]
        if title:
            parts.append(f"### {title}\n")
        parts.append(_table(kind, packages, reasons))
        parts += _lines(_more(kind, packages, reasons) + _taking_more(kind, packages, reasons))
    if reasons:
        parts.append("### Reasons\n")
        numbered = [f"{number}. {reason.why}" for number, reason in enumerate(reasons, 1)]
        parts.append("\n".join(numbered) + "\n")
    return "\n".join(parts)


def _reasons(table: Table, section: Section, packages: Sequence[Compared]) -> list[Reason]:
    """Those that something in this section needs, in the order of the table."""
    return [
        reason
        for reason in table.reasons
        if any(
            one.path.startswith(f"{section.name}.")
            for claim in reason.claims
            for one in covers(claim, packages)
        )
    ]


def _table(kind: Kind, packages: Sequence[Compared], reasons: Sequence[Reason]) -> str:
    of = kind.path.partition(".")[2]
    beside = BESIDE.get(of)
    titles = [TITLES[one.language] for one in packages]
    lines = [_line(["", *([beside] if beside else []), *titles])]
    lines.append("|" + "---|" * (1 + bool(beside) + len(packages)))
    for name, expected in kind.words.items():
        label = _label(of, name, expected)
        shown = [_beside(of, expected)] if beside else []
        cells = [_cell(of, one.rows[kind.path][name], expected, reasons) for one in packages]
        lines.append(_line([label, *shown, *cells]))
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _label(of: str, name: str, expected: tuple[str, ...]) -> str:
    if of == "methods" and expected:
        return f"`{name}({', '.join(expected)})`"
    return f"`{name}`"


def _beside(of: str, expected: tuple[str, ...]) -> str:
    if of in OPTIONS:
        return expected[0]
    return ", ".join(f"`{one}`" for one in expected)


def _cell(of: str, row: Row, expected: tuple[str, ...], reasons: Sequence[Reason]) -> str:
    numbers = _numbers(row, reasons)
    if row.item is None:
        return f"no{numbers}"
    shown = f"`{row.item.name}`"
    if any(one.what.startswith("without ") for one in row.differences):
        # What it takes beside the row's stands below the table.
        without = {one.what.removeprefix("without ") for one in row.differences}
        shown = f"`{row.item.name}({', '.join(one for one in expected if one not in without)})`"
    if of in OPTIONS and any(one.what.startswith("default ") for one in row.differences):
        shown += f" {_default(row.item)}"
    if row.item.twin is not None:
        shown += " ⇄"
    return shown + numbers


def _default(item: Item) -> str:
    return "required" if item.required else f"({normal(item.default or '?')})"


def _numbers(row: Row, reasons: Sequence[Reason]) -> str:
    """Of the reasons that a word needs in a language."""
    return _sup(row.differences, reasons)


def _sup(differences: Iterable[Difference], reasons: Sequence[Reason]) -> str:
    found = [
        str(number)
        for number, reason in enumerate(reasons, 1)
        if any(
            claim.covers(one.language, one.path, one.what)
            for claim in reason.claims
            for one in differences
        )
    ]
    return f" <sup>{','.join(found)}</sup>" if found else ""


def _more(kind: Kind, packages: Sequence[Compared], reasons: Sequence[Reason]) -> list[str]:
    """What only one language has, by reason."""
    lines = []
    for package in packages:
        names: dict[str, list[str]] = {}
        for name, row in package.rows[kind.path].items():
            if name not in kind.words and row.item is not None:
                names.setdefault(_numbers(row, reasons), []).append(f"`{row.item.name}`")
        title = TITLES[package.language]
        lines += [f"- {title} has {_all(found)} too.{at}" for at, found in names.items()]
    return lines


def _taking_more(kind: Kind, packages: Sequence[Compared], reasons: Sequence[Reason]) -> list[str]:
    """Methods that take what no other language's take, by argument and reason."""
    lines = []
    for package in packages:
        names: dict[tuple[str, str], list[str]] = {}
        for row in package.rows[kind.path].values():
            more = [one for one in row.differences if one.what.startswith("with ")]
            arguments = _all(f"`{one.what.removeprefix('with ')}`" for one in more)
            if more and row.item is not None:
                key = (arguments, _sup(more, reasons))
                names.setdefault(key, []).append(f"`{row.item.name}`")
        title = TITLES[package.language]
        lines += [
            f"- {title}: {_all(found)} can be given {arguments} too.{at}"
            for (arguments, at), found in names.items()
        ]
    return lines


def _all(names: Iterable[str]) -> str:
    return ", ".join(sorted(names, key=lambda name: name.strip("`")))


def _lines(lines: Sequence[str]) -> list[str]:
    return ["\n".join(lines) + "\n"] if lines else []
