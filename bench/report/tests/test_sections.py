from __future__ import annotations

from pathlib import Path

import made_up
import pytest

from report_page import figures
from report_page.benches import bench_of
from report_page.sections import Section, section, sections
from report_page.standing import Verdict


@pytest.fixture(scope="module")
def found(results: Path) -> dict[str, Section]:
    return {one.bench.name: one for one in sections(figures.load(results))}


def test_sections_follow_the_pages_and_end_with_what_nobody_knows(
    found: dict[str, Section],
) -> None:
    assert list(found) == [
        "memory",
        "memory-python",
        "memory-ruby",
        "redis",
        "namespace",
        "disk",
        "http",
        "codec",
        "host",
        "hit-ratio",
        "of-tomorrow",
    ]
    assert found["host"].results is None


def test_rows_are_counted_by_their_verdict(found: dict[str, Section]) -> None:
    tally = found["codec"].tally
    # skp-cache is won thrice; moka is quicker thrice, and sizes are alike.
    assert (tally[Verdict.WON], tally[Verdict.LOST], tally[Verdict.CLOSE]) == (3, 3, 2)
    # Ours is empty, and 2 peers have 6 operations.
    assert found["redis"].tally[Verdict.EMPTY] == 1 + 2 * 6


def test_ours_is_best_where_it_beats_every_peer(found: dict[str, Section]) -> None:
    lead = found["codec"].lead
    assert (lead.ours, lead.close, lead.peers) == (0, 1, 3)
    assert found["redis"].lead.total == 0


def test_rows_that_are_lost_are_listed_the_worst_first(found: dict[str, Section]) -> None:
    lost = [one.beside.times for one in found["memory"].lost if one.beside]
    assert lost and lost == sorted(lost)
    assert {one.figure.subject for one in found["memory"].lost} == {"lru-cache", "quick-lru"}


def test_what_could_not_be_measured_is_said_once(found: dict[str, Section]) -> None:
    names = [who for who, _, _ in found["memory"].missing]
    assert names == ["polycache-memory", "keyv", "quick-lru, GET"]


def test_notes_that_hold_for_all_of_a_subjects_operations_stand_below_the_table(
    found: dict[str, Section],
) -> None:
    notes = dict(found["disk"].workloads[0].notes)
    assert notes["lmdb"] == "a write survives kill -9; not compressed"
    assert notes["lmdb-one-transaction"].startswith("a write survives nothing")
    assert "All" not in notes


def test_notes_that_all_subjects_share_are_said_once() -> None:
    rows = [made_up.row("w", name, "get", "s", 1.0, f"{name}; JSON") for name in ("one", "two")]
    results = figures.parse("redis", made_up.lines("redis", rows))
    assert section(bench_of("redis"), results).workloads[0].notes == [
        ("All", "JSON"),
        ("one", "one"),
        ("two", "two"),
    ]


def test_the_main_workloads_come_first_and_are_open(found: dict[str, Section]) -> None:
    workloads = found["disk"].workloads
    assert [one.open for one in workloads] == [True, False, False, False]
    assert workloads[0].name == "10000 entries, 1000 bytes each"
