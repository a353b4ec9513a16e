"""spec/api.toml: the words that every package has, and the reasons where one differs."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from .package import LANGUAGES


class Malformed(Exception):
    """spec/api.toml says what is not understood; the message says where."""


@dataclass(frozen=True)
class Claim:
    """One difference that a reason names: `cache.methods.get without default`."""

    language: str
    path: str
    """Of the word; `*` stands for anything."""
    what: str
    """`missing`, `more`, `as NAME`, `without ARGUMENT`, `with ARGUMENT`, `default TEXT`,
    `no twin`, `twin without ARGUMENT` or `twin with ARGUMENT`."""

    def covers(self, language: str, path: str, what: str) -> bool:
        pattern = re.escape(self.path).replace(r"\*", ".*")
        return (
            language == self.language
            and what == self.what
            and re.fullmatch(pattern, path) is not None
        )

    def __str__(self) -> str:
        return f'{self.language} = ["{self.path} {self.what}"]'


@dataclass(frozen=True)
class Reason:
    why: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Kind:
    """The rows of one table, such as the methods of `Cache`."""

    path: str
    words: dict[str, tuple[str, ...]]
    """Arguments of a method, accepted wordings of a default; nothing for other words."""


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    about: str
    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Table:
    sections: tuple[Section, ...]
    reasons: tuple[Reason, ...]
    arguments: dict[str, str] = field(default_factory=dict)
    """Words of arguments with names that callers do not see: `load` is `loader`."""

    @property
    def kinds(self) -> list[Kind]:
        return [kind for section in self.sections for kind in section.kinds]


def read(text: str) -> Table:
    """Raises Malformed."""
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Malformed(f"spec/api.toml: {error}") from error
    reasons = tuple(_reason(one) for one in said.pop("reason", []))
    arguments = {
        name: kept
        for kept, names in said.pop("arguments", {}).items()
        for name in _list(names, f"[arguments] {kept}")
    }
    return Table(
        tuple(_section(name, one) for name, one in said.items()),
        reasons,
        arguments,
    )


def _section(name: str, said: dict[str, Any]) -> Section:
    if "title" not in said:
        raise Malformed(f"spec/api.toml: [{name}] has no title")
    kinds = (
        Kind(f"{name}.{kind}", _words(f"{name}.{kind}", words))
        for kind, words in said.items()
        if kind not in ("title", "about")
    )
    return Section(name, said["title"], said.get("about", ""), tuple(kinds))


def _words(path: str, said: Any) -> dict[str, tuple[str, ...]]:
    """A list of words, with their arguments: `get(key, default)`. A table of options, with their
    defaults."""
    if isinstance(said, dict):
        return {
            name: _list([value] if isinstance(value, str) else value, f"{path}.{name}")
            for name, value in said.items()
        }
    words = {}
    for one in _list(said, path):
        found = re.fullmatch(r"([^()]+)(?:\(([^()]*)\))?", one)
        if found is None:
            raise Malformed(f"spec/api.toml: {path} has {one!r}; write word(argument, argument)")
        given = (part.strip() for part in (found[2] or "").split(","))
        words[found[1]] = tuple(part for part in given if part)
    return words


def _list(said: Any, where: str) -> tuple[str, ...]:
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise Malformed(f"spec/api.toml: {where} is not a list of words")
    return tuple(said)


def _reason(said: dict[str, Any]) -> Reason:
    why = said.get("why", "")
    if not isinstance(why, str) or not re.fullmatch(r"(\S+\s+){2,}\S+\.", why.strip()):
        raise Malformed(f"spec/api.toml: a [[reason]] says why in a sentence, not {why!r}")
    unknown = set(said) - {"why", *LANGUAGES}
    if unknown:
        raise Malformed(f"spec/api.toml: no language {', '.join(sorted(unknown))}, of {why!r}")
    claims = tuple(
        _claim(language, one)
        for language in LANGUAGES
        for several in _list(said.get(language, []), f"{language} of {why!r}")
        for one in _spread(several)
    )
    if not claims:
        raise Malformed(f"spec/api.toml: a reason without a difference: {why!r}")
    return Reason(" ".join(why.split()), claims)


def _spread(said: str) -> list[str]:
    """`cache.methods.{get,peek} missing` is two differences."""
    found = re.fullmatch(r"(.*?)\{(.*?)\}(.*)", said)
    if found is None:
        return [said]
    ways = (f"{found[1]}{one.strip()}{found[3]}" for one in found[2].split(","))
    return [part for way in ways for part in _spread(way)]


WHATS = r"missing|more|no twin|(as|default|without|with|twin without|twin with) \S.*"


def _claim(language: str, said: str) -> Claim:
    # Words as `[]=` and `del []` are part of a path.
    found = re.fullmatch(rf"(\S+?\.(?:del )?\S+) ({WHATS})", said)
    if found is None:
        raise Malformed(
            f"spec/api.toml: {language} says {said!r}; write the path of a word, and missing, "
            "more, as NAME, default TEXT, with ARGUMENT, without ARGUMENT, no twin, twin with "
            "ARGUMENT or twin without ARGUMENT"
        )
    return Claim(language, found[1], found[2])
