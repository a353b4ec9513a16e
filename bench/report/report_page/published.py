"""The figures that the five pages have published, from published/*.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "published"


@dataclass(frozen=True)
class Table:
    bench: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Page:
    name: str
    source: str
    date: str
    platform: str
    tables: tuple[Table, ...]
    url: str = ""
    note: str = ""

    def of(self, bench: str) -> list[Table]:
        return [table for table in self.tables if table.bench == bench]


def load(stem: str, folder: Path = FOLDER) -> Page:
    page = json.loads((folder / f"{stem}.json").read_text(encoding="utf-8"))
    tables = tuple(
        Table(
            one["bench"],
            one["title"],
            tuple(one["columns"]),
            tuple(tuple(row) for row in one["rows"]),
            one.get("note", ""),
        )
        for one in page.pop("tables")
    )
    return Page(**page, tables=tables)
