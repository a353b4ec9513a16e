"""The data set: real records in one text file, which the workers' loaders search and parse.

Whatever the input, the file has the form of dpkg's status file: a record is lines `Field: value`,
a line that begins with a space goes on with the value above, an empty line ends the record. The
first field is `Package`, the record's key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DPKG_STATUS = Path("/var/lib/dpkg/status")
SAMPLE = Path(__file__).parent.parent / "sample" / "packages.txt"

# The members of a JSON record that name it, that list what it depends on, that give its size.
KEY_NAMES = ("key", "id", "name", "Package")
DEPENDS_NAMES = ("depends", "dependencies", "Depends")


class BadInput(Exception):
    """The input cannot be used; the message says why and where."""


@dataclass(frozen=True)
class Records:
    source: str
    """What the input is, in words."""
    total: int
    """Records of the input, of which `texts` may hold only the first."""
    texts: dict[str, str]
    """The records by key, in the order of the input."""

    @property
    def keys(self) -> list[str]:
        return list(self.texts)

    def write(self, file: Path) -> None:
        """An empty line stands before and behind each record, so that all are found alike."""
        texts = "".join(f"\n{text}\n" for text in self.texts.values())
        file.write_text(f"{texts}\n", encoding="utf-8")


def find(input_file: str | None, most: int) -> Records:
    """The data set to use: the file asked for, else dpkg's, else the sample of this folder."""
    if input_file:
        file = Path(input_file)
        try:
            return json_lines(file.read_text(encoding="utf-8").splitlines(), file.name, most)
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"INPUT={input_file}: {error}") from error
    if DPKG_STATUS.is_file():
        text = DPKG_STATUS.read_text(encoding="utf-8", errors="replace")
        return stanzas(text, "the packages of this machine (dpkg's status file)", most)
    return stanzas(SAMPLE.read_text(encoding="utf-8"), "the sample in examples/demo", most)


def stanzas(text: str, source: str, most: int) -> Records:
    blocks = [block.strip("\n") for block in text.split("\n\n")]
    return _collect(map(_named, filter(None, blocks)), source, most)


def json_lines(lines: Iterable[str], source: str, most: int) -> Records:
    return _collect(_from_json(lines), source, most)


def _named(block: str) -> tuple[str, list[str]]:
    """The record's name and its other lines."""
    lines = block.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("Package:"):
            return line.partition(":")[2].strip(), lines[:at] + lines[at + 1 :]
    raise BadInput(f"a record without a field Package: {lines[0][:60]!r}")


def _from_json(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInput(f"line {number} is not JSON: {error}") from error
        if not isinstance(record, dict):
            raise BadInput(f"line {number} is not a JSON object")
        yield _key_of(record, number), list(_fields_of(record))


def _key_of(record: Mapping[str, object], number: int) -> str:
    for name in KEY_NAMES:
        # What cannot stand in one line cannot name a record.
        if isinstance(key := record.get(name), str | int) and len(str(key).split()) == 1:
            return str(key)
    return f"line-{number}"


def _fields_of(record: Mapping[str, object]) -> Iterator[str]:
    for name, value in record.items():
        if name in DEPENDS_NAMES and isinstance(value, list):
            yield "Depends: " + ", ".join(" ".join(str(part).split()) for part in value)
        elif text := _text(value):
            # A field's name ends at the first colon.
            field = " ".join(name.replace(":", " ").split()).replace(" ", "-") or "field"
            if field != "Package":
                yield f"{field}: " + "\n ".join(text.splitlines())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _collect(named: Iterable[tuple[str, list[str]]], source: str, most: int) -> Records:
    texts: dict[str, str] = {}
    total = 0
    for name, lines in named:
        total += 1
        if total <= most:
            # A machine can have one package twice, for two architectures.
            key, copies = name, 1
            while key in texts:
                copies += 1
                key = f"{name}#{copies}"
            # An empty line would end the record.
            texts[key] = "\n".join([f"Package: {key}", *(line or " ." for line in lines)])
    if not texts:
        raise BadInput(f"there is no record in {source}")
    return Records(source, total, texts)
