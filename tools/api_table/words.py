"""Names and defaults in the one form in which packages are compared."""

from __future__ import annotations

import re

# What languages call nothing at all, and being switched on or off.
SAME = {"nil": "none", "null": "none", "undefined": "none", "on": "true", "off": "false"}


def word(name: str) -> str:
    """The word of a name, whose spelling follows its language: `getOrSet`, `has?`."""
    if not name[:1].isalpha():
        return name
    return re.sub(r"(?<=[a-z0-9])([A-Z]+)", r"_\1", name.rstrip("?!")).lower()


def class_name(code: str) -> str:
    """The class of an error's code: `WaitTimeout` for `wait_timeout`."""
    return "".join(part.capitalize() for part in code.split("_"))


def default_of(doc: str) -> str | None:
    """What stands behind `Default:` at the end of an option's documentation."""
    text = " ".join(doc.split())
    # Not another option's text: the last sentence, which may have several clauses.
    found = re.search(r"\bDefault: ((?:(?!\bDefault: ).)+)$", text)
    return found[1].strip().removesuffix(".") if found else None


def normal(default: str) -> str:
    """The same text for the same default: "64MiB", `64 MiB` and +64MiB+ are one, as are 10_000
    and 10,000, None and nil."""
    # Among them the apostrophe of rustdoc's pages.
    text = re.sub("</?tt>|[`\"'+*\u2019]", "", default).strip().rstrip(".").lower()
    text = re.sub(r"(?<=\d)[_,](?=\d{3})", "", text)
    text = re.sub(r"(?<=\d)\s+(?=(ms|s|m|h|d|b|kib|mib|gib|tib)\b)", "", text)
    # A value of an enumeration, or a Symbol: StoreErrors::Report, :report.
    text = re.sub(r"(?<!\w)(?:\w+::|:)(?=\w)", "", text)
    return SAME.get(text, text)
