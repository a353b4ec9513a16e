from __future__ import annotations

import io

import pytest

from driver.job import Kill
from driver.progress import ProgressBar, bar
from driver.report import Report, duration, table, title_of, together


class Utf8(io.StringIO):
    encoding = "utf-8"


def test_checks_are_counted_and_only_what_failed_is_told() -> None:
    out = Utf8()
    report = Report(out, colours=False)
    report.check(True, "one")
    report.checks("fresh: all", [(True, "good"), (False, "bad"), (True, "good")])
    report.skip("two")
    assert report.total() == "3 passed, 1 failed, 1 skipped"
    assert out.getvalue().splitlines() == [
        "  ✓ one",
        "  ✗ fresh 2/3: all",
        "      bad",
        "  - skipped: two",
    ]


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [(12.3, "12 ns"), (1234.0, "1.23 µs"), (5_678_900.0, "5.68 ms"), (2e9, "2.00 s")],
)
def test_durations_have_the_unit_that_fits(nanoseconds: float, text: str) -> None:
    assert duration(nanoseconds) == text


def test_columns_line_up() -> None:
    assert table(["", "n"], [["Rust", "1"], ["Ruby", "200"]]) == [
        "          n",
        "  Rust    1",
        "  Ruby  200",
    ]


def test_a_twin_has_a_number() -> None:
    assert [title_of("rust"), title_of("rust-2")] == ["Rust", "Rust 2"]
    assert together(["rust", "python", "ruby"]) == "Rust, Python and Ruby"
    assert together(["ruby"]) == "Ruby"


def test_without_a_terminal_progress_is_a_line_a_quarter() -> None:
    out = Utf8()
    progress = ProgressBar(out, 8)
    for asked in range(9):
        progress({"rust": asked, "ruby": asked}, None)
    assert [line.split()[0] for line in out.getvalue().splitlines()] == [
        "25%",
        "50%",
        "75%",
        "100%",
    ]


def test_the_bar_falls_back_to_plain_characters() -> None:
    assert bar(0.5, 4, "utf-8") == "██░░"
    assert bar(0.5, 4, "ascii") == "##.."


def test_a_killed_worker_no_longer_counts() -> None:
    class Dead:
        name = "ruby"

    out = Utf8()
    kill = Kill(worker=Dead(), asked=4, held="x", by=9)  # type: ignore[arg-type]
    ProgressBar(out, 8)({"rust": 8, "ruby": 4}, kill)
    assert out.getvalue().split() == ["100%", "rust", "8", "ruby", "killed"]
