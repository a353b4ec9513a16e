"""Prints what the Python package offers, as JSON: by `inspect`, and the docstrings behind fields.

Runs as a program of its own, so that the package is imported as its users do:
`python read_python.py FOLDER`, where `FOLDER` is what paths are relative to.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

Said = dict[str, Any]

# The words of what programs write with signs or words of the language, and these.
SIGNS = {
    "__getitem__": ("[]", "[]"),
    "__setitem__": ("[]=", "[]="),
    "__delitem__": ("del []", "del []"),
    "__contains__": ("in", "in"),
    "__iter__": ("iteration", "iter"),
    "__len__": ("size", "len"),
    "__enter__": ("scope", "with"),
    "__aenter__": ("scope", "async with"),
}


def main(folder: Path) -> None:
    package = importlib.import_module("polycache")
    redis = importlib.import_module("polycache.redis_namespace")
    read = Reader(folder)
    print(json.dumps(read.package(package, redis)))


class Reader:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def package(self, package: Any, redis: Any) -> Said:
        with tempfile.TemporaryDirectory() as folder:
            cache = package.Cache(folder)
            cache.set("key", "value")
            memory = package.MemoryCache()
            memory["key"] = "value"
            entries = [self.fields(_entry_of(cache)), self.fields(_entry_of(memory))]
            cache.close()
        options = self.options(package.Cache, package.Options)
        return {
            "cache": {
                "methods": self.methods(package.Cache),
                "twins": self.methods(package.AsyncCache),
                "options": options,
                "memory": self.typed_dict(_inner(package.Options, "memory")),
                "statistics": self.fields(package.Stats),
                "entry": entries[0],
                "check": self.fields(package.Report),
            },
            "memory_cache": {
                "methods": self.methods(package.MemoryCache),
                "options": self.options(package.MemoryCache, package.MemoryCacheOptions),
                "events": [],
                "causes": self.causes(package.MemoryCacheOptions),
                "statistics": self.fields(package.MemoryStats),
                "entry": entries[1],
            },
            "lease": {
                "methods": self.methods(package.Lease),
                "twins": self.methods(package.AsyncLease),
            },
            "redis": {"options": self.parameters(redis.namespaced, skip="client")},
            "errors": {"errors": list(self.errors(package.PolycacheError))},
        }

    def at(self, thing: Any) -> str:
        """Where something is written; of what is native, the file that describes it."""
        try:
            code: Any = thing.fget if isinstance(thing, property) else thing
            thing = inspect.unwrap(code)
            file, line = inspect.getsourcefile(thing), inspect.getsourcelines(thing)[1]
        except (TypeError, OSError):
            return self.relative(Path(_native_stub()))
        return f"{self.relative(Path(file or ''))}:{line}"

    def relative(self, file: Path) -> str:
        return str(file.relative_to(self.folder)) if file.is_relative_to(self.folder) else str(file)

    def methods(self, cls: type) -> list[Said]:
        found: list[Said] = []
        for name in dir(cls):
            if name.startswith("_") and name not in SIGNS:
                continue
            member = inspect.getattr_static(cls, name)
            owner = next(base for base in cls.__mro__ if name in vars(base))
            if owner.__module__ in ("builtins", "typing"):
                continue
            called = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            if name in SIGNS:
                of, written = SIGNS[name]
                found.append({"name": written, "word": of, "at": self.at(called)})
            else:
                arguments = _arguments(called) if callable(called) else []
                found.append({"name": name, "at": self.at(called), "arguments": arguments})
        return found

    def options(self, cls: type, options: Any) -> list[Said]:
        """The keyword arguments of a class: those that stand in its signature, and the others."""
        documented = {one["name"]: one for one in self.typed_dict(options)}
        make = cls.__dict__.get("__new__") or cls.__dict__["__init__"]
        make = make.__func__ if isinstance(make, staticmethod) else make
        named = [
            one
            for one in self.parameters(make, skip=next(iter(inspect.signature(make).parameters)))
            if one["name"] not in documented
        ]
        return [*named, *documented.values()]

    def parameters(self, function: Callable[..., Any], skip: str) -> list[Said]:
        found = []
        for name, parameter in inspect.signature(function).parameters.items():
            if name == skip or parameter.kind is parameter.VAR_KEYWORD:
                continue
            doc = _paragraph(inspect.getdoc(function) or "", name)
            option: Said = {"name": name, "at": self.at(function), "doc": doc}
            if parameter.default is parameter.empty:
                option["required"] = True
            elif "Default:" not in doc:
                option["default"] = _shown(parameter.default)
            found.append(option)
        return found

    def typed_dict(self, cls: Any) -> list[Said]:
        if cls is None:
            return []
        file = inspect.getsourcefile(cls) or ""
        return [
            {"name": name, "doc": doc, "at": f"{self.relative(Path(file))}:{line}"}
            for name, doc, line in _documented(cls)
        ]

    def fields(self, thing: Any) -> list[Said]:
        """The fields of a dataclass or what is like one; the keys of a dict."""
        if thing is None:
            return []
        if isinstance(thing, dict):
            return [{"name": name, "at": ""} for name in thing]
        cls = thing if isinstance(thing, type) else type(thing)
        if dataclasses.is_dataclass(cls):
            names: Iterable[str] = [field.name for field in dataclasses.fields(cls)]
        else:
            names = getattr(cls, "_fields", None) or [n for n in dir(cls) if n[0] != "_"]
        return [{"name": name, "at": self.at(cls)} for name in names]

    def causes(self, options: Any) -> list[Said]:
        """The texts that the documentation of the listener names."""
        for one in self.typed_dict(options):
            if "cause" in one["doc"]:
                said = re.findall(r'"([a-z]+)"', one["doc"])
                return [{"name": cause, "at": one["at"]} for cause in said]
        return []

    def errors(self, base: Any) -> Iterable[Said]:
        for cls in base.__subclasses__():
            own = cls.__dict__.get("__init__")
            carried = list(inspect.signature(own).parameters)[2:] if own else []
            retryable = ["retryable"] if getattr(cls, "retryable", False) else []
            yield {
                "name": cls.__name__,
                "code": getattr(cls, "code", cls.__name__),
                "arguments": carried + retryable,
                "at": self.at(cls),
            }


def _entry_of(cache: Any) -> Any:
    return cache.entry("key") if hasattr(cache, "entry") else None


def _inner(options: Any, name: str) -> Any:
    """The TypedDict that an option may be."""
    hint = get_type_hints(options).get(name)
    return next((one for one in (hint, *get_args(hint)) if is_typeddict(one)), None)


def _native_stub() -> str:
    folder = Path(inspect.getsourcefile(importlib.import_module("polycache")) or "").parent
    return str(folder / "_native.pyi")


def _arguments(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        return []
    skipped = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    names = [one.name for one in parameters if one.kind not in skipped]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _paragraph(doc: str, name: str) -> str:
    """What a docstring says of an argument, in a line that begins with its name and a colon."""
    found = re.search(rf"^`?{name}`?: (.+?)(?=\n\n|\n`?\w+`?: |\Z)", doc, re.M | re.S)
    return found[1] if found else ""


def _shown(default: object) -> str:
    """MISSING and their like are nothing, as None is; no text and no elements, too."""
    if default is None or default in ((), [], {}) or "missing" in type(default).__name__.lower():
        return "none"
    return str(default)


def _documented(cls: Any) -> Iterable[tuple[str, str, int]]:
    """Fields of a class and the strings behind them, those of its bases before its own."""
    for base in getattr(cls, "__orig_bases__", ()):
        if is_typeddict(base):
            yield from _documented(base)
    lines, first = inspect.getsourcelines(cls)
    body = ast.parse(textwrap.dedent("".join(lines))).body[0]
    assert isinstance(body, ast.ClassDef)
    for at, node in enumerate(body.body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        after = body.body[at + 1] if at + 1 < len(body.body) else None
        doc = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            doc = str(after.value.value)
        yield node.target.id, doc, first + node.lineno - 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
