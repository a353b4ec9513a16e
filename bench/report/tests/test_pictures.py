from __future__ import annotations

import made_up

from report_page import figures
from report_page.benches import bench_of
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
    label = "zipf 0.9 (hit ratio): OPT from 0.0100 at 100 to 0.500 at 5k, LRU"
    assert label in found["Hit ratio by capacity"].svg


def test_nothing_is_drawn_of_what_was_not_measured() -> None:
    assert drawn("disk", made_up.row("w", "lmdb", "SET", "s", None, "gone")) == {}


def test_names_of_subjects_are_text_and_no_formulas() -> None:
    hostile = made_up.row("w", "$x_1$ <b>&", "get", "ms", 1)
    svg = drawn("redis", hostile, made_up.row("w", "b", "get", "ms", 1))["w"].svg
    assert "$x_1$ &lt;b&gt;&amp;" in svg
