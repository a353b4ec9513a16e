from __future__ import annotations

import pytest

from report_page import published
from report_page.benches import BENCHES

# Tables on each page, and one figure of each that must not change.
PAGES = {
    "1-ts-cache": (8, "1.34 µs"),
    "2-redis-client-namespace": (1, "2,945.3 i/s"),
    "3-python-disk-caches": (10, "98.7016 s"),
    "4-http-redis-servers": (2, "1191"),
    "5-skp-cache": (8, "15,172 bytes"),
}


@pytest.mark.parametrize("stem", PAGES)
def test_a_page_has_all_its_tables(stem: str) -> None:
    page = published.load(stem)
    tables, figure = PAGES[stem]
    assert len(page.tables) == tables
    assert all(len(row) == len(table.columns) for table in page.tables for row in table.rows)
    assert any(figure in row for table in page.tables for row in table.rows)
    assert page.source and page.date and page.platform


def test_every_table_belongs_to_a_section() -> None:
    shown = {bench.name: bench.page for bench in BENCHES if bench.page}
    for stem in PAGES:
        assert all(shown[table.bench] == stem for table in published.load(stem).tables)
