import json

from controller import report
from controller.row import P99, Row
from controller.workload import Workload
from harness.row import PER_SECOND

WORKLOAD = Workload(100, 10_000)
MACHINE = {"processor": "a processor"}


def row(subject, samples, operation="get", **more):
    return Row("rust", WORKLOAD, subject, operation, "survives kill -9", samples=samples, **more)


def line_of(rows, subject):
    text = report.markdown(rows, MACHINE)
    table = text[text.index("## Rust") :]
    return next(line for line in table.splitlines() if subject in line)


def test_a_peer_that_is_slower_is_a_row_we_win():
    rows = [row("polycache-store", [100, 100]), row("lmdb", [300, 300])]
    assert "3 times as fast" in line_of(rows, "lmdb")


def test_a_peer_that_is_faster_is_marked_as_plainly():
    rows = [row("polycache-store", [200, 200]), row("lmdb", [100, 100])]
    assert "**SLOWER**: 2 times the time" in line_of(rows, "lmdb")


def test_a_small_margin_is_too_close_to_call():
    rows = [row("polycache-store", [100, 100]), row("lmdb", [108, 108])]
    assert "too close to call (1.08)" in line_of(rows, "lmdb")


def test_the_limit_is_no_peer_that_beats_us():
    rows = [row("polycache-store", [150, 150]), row("copy", [100, 100])]
    said = line_of(rows, "copy")
    assert "the machine's limit; polycache-store takes 1.5 times as long" in said
    assert "SLOWER" not in said


def test_a_peer_that_is_missing_is_a_row_that_says_so():
    missing = Row("rust", WORKLOAD, "lmdb", "-", "-", failure="no such file")
    rows = [row("polycache-store", [100]), missing]
    assert "not measured: no such file" in line_of(rows, "lmdb")


def test_the_goals_come_before_the_figures():
    text = report.markdown([row("polycache-store", [100])], MACHINE)
    assert text.index("## Goals") < text.index("## Rust")


def test_every_row_is_one_object():
    missing = Row("rust", WORKLOAD, "lmdb", "-", "-", failure="no such file")
    fast = row("polycache-store", [1e6, 3e6], "get, one process", unit=PER_SECOND)
    machine, measured, absent = map(
        json.loads, report.json_lines([fast, missing], MACHINE).splitlines()
    )
    assert machine == {"bench": "host", "machine": MACHINE}
    assert measured == {
        "bench": "host",
        "workload": "rust, 100 B, 10k keys",
        "subject": "polycache-store",
        "operation": "get, one process",
        "unit": "operations per second",
        "median": 2e6,
        "low": 1.5e6,
        "high": 2.5e6,
        "rounds": 2,
        "notes": "survives kill -9",
    }
    assert absent["median"] is None
    assert absent["rounds"] == 0
    assert absent["notes"] == "not measured: no such file"


def growing(keys, subject, operation, value):
    workload = Workload(100, keys, 1 << 30)
    return Row("rust", workload, subject, operation, "-", samples=[value])


def test_growth_is_told_beside_the_fewest_entries():
    rows = [
        growing(keys, subject, operation, value)
        for keys, factor in ((10_000, 1), (100_000, 3))
        for subject in ("polycache-store", "lmdb")
        for operation, value in (("put", 200 * factor), ("get", 100), ("space", 150))
    ]
    text = report.markdown(rows, MACHINE)
    assert "| 100 B, 10k keys, growing | 200 (1.00) |" in text
    assert "| 100 B, 100k keys, growing | 600 (3.00) | 600 (3.00) | 100 (1.00) |" in text
    assert "growing" not in text[text.index("## Goals") : text.index("## Growth")]


def test_percentiles_are_compared_with_their_own():
    rows = [
        row("polycache-store", [100]),
        row("polycache-store", [400], unit=P99),
        row("lmdb", [800], unit=P99),
    ]
    text = report.markdown(rows, MACHINE)
    tails = text[text.index(P99) :]
    assert "2 times as fast" in next(line for line in tails.splitlines() if "lmdb" in line)
