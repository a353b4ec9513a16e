from pathlib import Path

import pytest

from runner import counts
from runner.counts import Counts

NOWHERE = Path("no", "such", "report")

CARGO = """
running 2 tests
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
\x1b[1mtest result: \x1b[0mFAILED. 3 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out
"""


def test_cargo_sums_every_binary() -> None:
    plain = CARGO.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert counts.cargo(plain, NOWHERE) == Counts(5, 4, 1)
    assert counts.cargo(CARGO, NOWHERE) == Counts(5, 4, 1)


def test_minitest_counts_errors_as_failures() -> None:
    output = "Finished in 0.1s\n\n10 runs, 12 assertions, 1 failures, 2 errors, 3 skips\n"
    assert counts.minitest(output, NOWHERE) == Counts(4, 3, 3)


def test_summary_takes_the_last_line_only() -> None:
    output = "1 passed, 0 failed, 0 skipped\nmore\n7 passed, 1 failed, 2 skipped\nmake: Error 1\n"
    assert counts.summary(output, NOWHERE) == Counts(7, 1, 2)


def test_summary_wants_a_line_of_its_own() -> None:
    assert counts.summary("it said 7 passed, 1 failed, 2 skipped", NOWHERE) is None


@pytest.mark.parametrize("parser", [counts.cargo, counts.minitest, counts.summary])
def test_output_without_a_count_is_none(parser: counts.Parser) -> None:
    assert parser("error: could not compile\n", NOWHERE) is None


def test_junit_counts_cases_wherever_they_nest(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text(
        """<testsuites tests="99"><testsuite><testcase name="a"/>
        <testsuite><testcase name="b"><failure>no</failure></testcase>
        <testcase name="c"><skipped/></testcase>
        <testcase name="d"><error>no</error></testcase></testsuite></testsuite></testsuites>"""
    )
    assert counts.junit("", report) == Counts(1, 2, 1)


@pytest.mark.parametrize("text", ["", "<testsuites>", "<testsuites/>"])
def test_junit_report_without_cases_is_none(tmp_path: Path, text: str) -> None:
    report = tmp_path / "report"
    report.write_text(text)
    assert counts.junit("", report) is None


def test_json_file(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text('{"passed": 3, "failed": 1}')
    assert counts.json_file("", report) == Counts(3, 1, 0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"passed": "many", "failed": 0}', "3"])
def test_json_file_without_a_count_is_none(tmp_path: Path, text: str) -> None:
    report = tmp_path / "report"
    report.write_text(text)
    assert counts.json_file("", report) is None


def test_missing_reports_are_none() -> None:
    assert counts.junit("", NOWHERE) is None
    assert counts.json_file("", NOWHERE) is None
