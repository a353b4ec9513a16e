from __future__ import annotations

import made_up

from report_page import figures
from report_page.benches import bench_of
from report_page.charts import hit_ratio, lines
from report_page.pictures import Picture, pictures


def drawn(bench: str, *rows: dict[str, object]) -> dict[str, Picture]:
    results = figures.parse(bench, made_up.lines(bench, list(rows)))
    return {one.title: one for one in pictures(bench_of(bench), results)}


def test_growth_is_of_workloads_that_differ_in_one_number() -> None:
    found = drawn(
        "codec",
        *(
            made_up.row(f"compression, {size} of {what}", "zstd", "compress, L1", "ms", 1)
            for what in ("zeros", "JSON")
            for size in ("1 KB", "10 KB")
        ),
        made_up.row("throughput", "moka", "get, hit", "ms", 1),
    )
    assert list(found) == [
        "compression, 10 KB of JSON",
        "throughput",
        "Growth with bytes a value",
    ]
    svg = found["Growth with bytes a value"].svg
    assert "compression, … of JSON: compress, L1" in svg
    assert "throughput" not in svg


def test_ways_of_doing_the_same_stand_in_one_panel() -> None:
    found = drawn(
        "host",
        made_up.row("w", "polycache", "get", "ms", 1),
        made_up.row("w", "lmdb", "get", "ms", 2),
        made_up.row("w", "lmdb", "get, one transaction", "ms", 1.5),
    )
    assert "get: polycache 1.00 ms, lmdb 2.00 ms, lmdb, one transaction 1.50 ms" in found["w"].svg


def test_hit_ratios_are_drawn_over_the_capacity() -> None:
    found = drawn(
        "hit-ratio",
        *(
            made_up.row(trace, policy, f"capacity {entries}", "hit ratio", entries / 10_000)
            for trace in ("loop", "zipf 0.9")
            for policy in ("OPT", "LRU")
            for entries in (100, 5000)
        ),
    )
    label = "zipf 0.9: OPT 1.0% at 100, 50.0% at 5k; LRU"
    assert label in found["Hit ratio by capacity"].svg


def test_nothing_is_drawn_of_what_was_not_measured() -> None:
    assert drawn("disk", made_up.row("w", "lmdb", "SET", "s", None, "gone")) == {}


def test_names_of_subjects_are_text_and_no_formulas() -> None:
    hostile = made_up.row("w", "$x_1$ <b>&", "get", "ms", 1)
    svg = drawn("redis", hostile, made_up.row("w", "b", "get", "ms", 1))["w"].svg
    assert "$x_1$ &lt;b&gt;&amp;" in svg


def test_a_picture_shows_the_five_strongest_peers_and_says_so() -> None:
    peers = [made_up.row("w", f"peer-{number}", "get", "ms", 10 + number) for number in range(9)]
    found = drawn("host", made_up.row("w", "polycache", "get", "ms", 1), *peers)["w"]
    assert "five strongest" in found.caption
    assert [f"peer-{number}" in found.svg for number in range(9)] == [True] * 5 + [False] * 4


def test_policies_stand_below_each_other_the_bound_first_and_then_the_best() -> None:
    points = {"FIFO": 0.1, "polycache": 0.3, "LRU": 0.2, "OPT": 0.4}
    rows = [lines.Line(n, "limit" if n == "OPT" else "peer", [(1, y)]) for n, y in points.items()]
    # Measured at a larger capacity only, where all find more.
    rows.append(lines.Line("late", "peer", [(1, 0.0), (2, 0.9)]))
    assert [one.label for one in hit_ratio.order(rows)] == [
        "OPT",
        "polycache",
        "LRU",
        "FIFO",
        "late",
    ]
