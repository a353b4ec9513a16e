"""What the Rust crates offer, from the pages that rustdoc makes of them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Said = dict[str, Any]

# Where traits and what a type dereferences to begin: the words of other types.
NOT_OWN = ('id="trait-implementations', 'id="deref-methods', 'id="synthetic-implementations')
TAG = re.compile(r"<[^>]*>")
# Makes a value instead of using one.
MAKES = {"builder", "new", "build", "build_async", "build_with_hasher"}
# The options of a cache that other languages have in `memory`.
OF_MEMORY = {"max_entries", "max_bytes"}


@dataclass(frozen=True)
class Piece:
    """A method, field or variant of a page."""

    name: str
    signature: str
    doc: str
    at: str


def read(pages: Path, folder: Path) -> dict[str, dict[str, list[Said]]]:
    """Of the folder that holds a folder for each crate. Of `folder`, the repository, error.rs is
    read: which errors say that a retry helps stands in no signature."""
    cache, memory = pages / "polycache", pages / "polycache_memory"
    redis = pages / "polycache_redis_namespace"
    options = methods(cache / "struct.Builder.html")
    return {
        "cache": {
            "methods": methods(cache / "struct.Cache.html"),
            "twins": methods(cache / "struct.AsyncCache.html"),
            "options": [one for one in options if one["name"] not in OF_MEMORY],
            "memory": [one for one in options if one["name"] in OF_MEMORY],
            "statistics": fields(cache / "struct.Stats.html"),
            "entry": [
                one
                for name in ("Entry", "Facts")
                for one in fields(cache / f"struct.{name}.html")
                if one["name"] != "facts"
            ],
            "check": fields(cache / "struct.Report.html"),
        },
        "memory_cache": {
            "methods": methods(memory / "struct.MemoryCache.html"),
            "options": methods(memory / "struct.Builder.html"),
            "events": [],
            "causes": variants(memory / "enum.RemovalCause.html"),
            "statistics": fields(memory / "struct.Stats.html"),
            # The methods of an entry change it; its facts are `peek` and `ttl`.
            "entry": [],
        },
        # Every method of a lease waits by itself or not at all.
        "lease": {"methods": methods(cache / "struct.Lease.html")},
        "redis": {"options": namespace_options(redis / "struct.Namespace.html")},
        "errors": {
            "errors": errors(cache / "enum.Error.html", redis / "enum.Error.html", folder=folder)
        },
    }


def methods(page: Path) -> list[Said]:
    return [
        {
            "name": piece.name,
            "at": piece.at,
            "doc": piece.doc,
            "arguments": arguments(piece.signature),
        }
        for piece in pieces(page, "method")
        if piece.name not in MAKES
    ]


def fields(page: Path) -> list[Said]:
    return [{"name": one.name, "at": one.at} for one in pieces(page, "structfield")]


def variants(page: Path) -> list[Said]:
    found = pieces(page, "variant")
    return [{"name": one.name, "at": one.at} for one in found if "." not in one.name]


def namespace_options(page: Path) -> list[Said]:
    """What makes a namespace is the option of that name; what gives back the namespace that it was
    called on is another."""
    found: list[Said] = []
    for piece in pieces(page, "method"):
        if piece.name == "new":
            found.append({"name": "namespace", "at": piece.at, "required": True})
        elif re.search(r"\((mut )?self\b", piece.signature.replace("( ", "(")):
            found.append({"name": piece.name, "at": piece.at, "doc": piece.doc})
    return found


def errors(*pages: Path, folder: Path) -> list[Said]:
    retryable = retried(folder / "crates/polycache/src/error.rs")
    found: dict[str, Said] = {}
    for page in pages:
        for piece in pieces(page, "variant"):
            name, _, field = piece.name.partition(".field.")
            if name.endswith(".fields"):
                continue
            error = found.setdefault(name, {"name": name, "at": piece.at, "arguments": []})
            # Every error has a message; here it is a field.
            if field not in ("", "reason"):
                error["arguments"].append(field)
    for name in retryable & set(found):
        found[name]["arguments"].append("retryable")
    return list(found.values())


def retried(file: Path) -> set[str]:
    """The variants that the first arm of `retryable` names."""
    text = file.read_text() if file.exists() else ""
    body = re.search(r"pub fn retryable.*?=> true", text, re.S)
    return set(re.findall(r"Error::(\w+)", body[0])) if body else set()


def pieces(page: Path, kind: str) -> list[Piece]:
    """The items of a kind in a page; none where there is no such page."""
    if not page.exists():
        return []
    text = page.read_text()
    ends = [at for at in map(text.find, NOT_OWN) if at > 0]
    text = text[text.find('<section id="main-content"') : min(ends, default=len(text))]
    # The list at a page's side has links and no ids; every id opens one item.
    marks = list(re.finditer(r'id="(method|structfield|variant)\.([\w.]+)"', text))
    found: dict[str, Piece] = {}
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        if mark[1] != kind:
            continue
        chunk = text[mark.end() : after.start() if after else len(text)]
        at = _at(page, chunk if kind == "method" else text)
        found.setdefault(mark[2], Piece(mark[2], _signature(chunk), _doc(chunk), at))
    return list(found.values())


def _signature(chunk: str) -> str:
    found = re.search(r'<h[34] class="code-header">(.*?)</h[34]>', chunk, re.S)
    return " ".join(_plain(found[1]).split()) if found else ""


def _doc(chunk: str) -> str:
    # Examples and the list of errors are not part of what describes an option.
    prose = re.sub(r'<div class="example-wrap.*?</pre></div>', " ", chunk, flags=re.S)
    found = re.search(r'<div class="docblock">(.*?)</div>', prose, re.S)
    text = re.split(r"<h[1-6] id=", found[1])[0] if found else ""
    return " ".join(_plain(text).split())


def _at(page: Path, text: str) -> str:
    """From the first link to a source: ../src/CRATE/FILE.html#LINES"""
    found = re.search(r'href="(?:\.\./)+src/(\w+)/([\w/.-]+)\.html#(\d+)', text)
    if found is None:
        # Of a crate that no page is made of.
        return f"rustdoc/{page.parent.name}/{page.name}"
    crate = found[1].replace("_", "-").removeprefix("polycache-")
    return f"crates/{crate}/src/{found[2]}:{found[3]}"


def _plain(text: str) -> str:
    return html.unescape(TAG.sub("", text)).replace("\u200b", "")


def arguments(signature: str) -> list[str]:
    """The names of a function's arguments, without `self`."""
    text = signature.replace("->", "→")
    opened = _parentheses(text)
    if opened is None:
        return []
    names = []
    for part in _split(text[opened:]):
        name = part.partition(":")[0].removeprefix("mut ").strip()
        if ":" in part and not re.fullmatch(r"(&('\w+ )?)?(mut )?self", name):
            names.append(name)
    return names


def _parentheses(text: str) -> int | None:
    """Where the arguments begin: behind the name and what it is generic over."""
    depth = 0
    for at, sign in enumerate(text):
        depth += {"<": 1, ">": -1}.get(sign, 0)
        if sign == "(" and depth == 0 and re.search(r"fn \w+(<.*>)?$", text[:at]):
            return at + 1
    return None


def _split(text: str) -> Iterable[str]:
    """The parts between commas, up to the parenthesis that closes them."""
    depth, part = 0, ""
    for sign in text:
        if sign == ")" and depth == 0:
            break
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            yield part.strip()
            part = ""
        else:
            part += sign
    if part.strip():
        yield part.strip()
