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
        "disk-growth",
        "http",
        "codec",
        "host",
        "hit-ratio",
        "of-tomorrow",
    ]
    assert found["host"].results is None


def test_rows_are_counted_by_their_verdict(found: dict[str, Section]) -> None:
    tally = found["codec"].tally
    # skp-cache is won three times; moka is faster three times, and sizes are alike.
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


def test_races_are_run_among_those_that_hand_out_the_same() -> None:
    def row(subject: str, ms: float, isolation: str) -> dict[str, object]:
        return made_up.row("w", subject, "get", "ms", ms, f"isolation: {isolation}")

    rows = [row("polycache", 2, "clone"), row("polycache-shared", 2, "none"),
            row("copies", 4, "clone"), row("shares", 1, "none")]  # fmt: skip
    found = section(bench_of("memory"), figures.parse("memory", made_up.lines("memory", rows)))
    assert {kind: str(lead) for kind, lead in found.leads.items()} == {
        "clone": "1 of 1",
        "none": "0 of 1",
    }
    assert str(found.lead) == "1 of 2"


def test_the_best_the_typical_and_the_worst_row(found: dict[str, Section]) -> None:
    codec = found["codec"]
    assert codec.best and codec.best.figure.subject == "skp-cache"
    assert codec.worst and codec.worst.figure.subject == "moka"
    assert codec.typical and codec.typical.verdict == Verdict.CLOSE
    assert found["redis"].typical is None


def test_the_five_strongest_peers_stand_first_of_every_kind_some() -> None:
    def row(subject: str, ms: float, isolation: str) -> dict[str, object]:
        return made_up.row("w", subject, "get", "ms", ms, f"isolation: {isolation}")

    rows = [row("polycache", 1, "clone"), row("polycache-shared", 1, "none")]
    rows += [row(f"copies-{ms}", ms, "clone") for ms in (40, 30, 20)]
    rows += [row(f"shares-{ms}", ms, "none") for ms in (2, 5, 4, 3)]
    rows.append(made_up.row("w", "map", "get", "ms", 0.1, "isolation: none"))
    table = section(bench_of("memory"), figures.parse("memory", made_up.lines("memory", rows)))
    first, rest = table.workloads[0].first, table.workloads[0].rest
    assert [one.subject for one in first] == ["polycache", "polycache-shared", "shares-2",
        "shares-3", "copies-20", "copies-30", "copies-40"]  # fmt: skip
    assert [one.subject for one in rest] == ["shares-5", "shares-4", "map"]
    assert rest[-1].is_limit


def test_what_compresses_nothing_is_a_limit_in_that_and_a_peer_else() -> None:
    rows = [
        made_up.row("w", subject, operation, "ms", ms)
        for subject, ms in (("polycache-entry", 2), ("zstd", 1), ("skp-cache", 1))
        for operation in ("compress, Noop", "compress, Zstd L1")
    ]
    table = section(bench_of("codec"), figures.parse("codec", made_up.lines("codec", rows)))
    verdicts = {
        (one.figure.subject, one.figure.operation[10:]): one.verdict
        for one in table.workloads[0].standings
        if not one.figure.is_ours
    }
    assert verdicts == {
        ("zstd", "Noop"): Verdict.LIMIT,
        ("zstd", "Zstd L1"): Verdict.LOST,
        ("skp-cache", "Noop"): Verdict.LOST,
        ("skp-cache", "Zstd L1"): Verdict.LOST,
    }
    assert not any(line.is_limit for line in table.workloads[0].lines)
