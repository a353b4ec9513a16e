"""The last lines of a run name the tests that failed."""

from pathlib import Path

from runner import counts
from runner.failures import MOST, failures
from runner.report import failed
from runner.run import Runner
from runner.section import Section

NO_REPORT = Path("/nonexistent")


def test_cargo_with_the_place_and_the_reason() -> None:
    output = (
        "test fine ... ok\n"
        "test kills::all_of_them ... FAILED\n"
        "\nfailures:\n\n---- kills::all_of_them stdout ----\n"
        "\nthread 'kills::all_of_them' (12) panicked at src/a.rs:3:5:\n"
        "assertion `left == right` failed\n  left: 1\n"
        "\nthread 'caught' (13) panicked at src/a.rs:9:5:\nexpected\n"
    )
    assert failures(output, NO_REPORT) == (
        "kills::all_of_them: src/a.rs:3:5: assertion `left == right` failed",
    )


def test_cargo_when_the_panic_was_not_printed() -> None:
    assert failures("test a - b (line 3) ... FAILED\n", NO_REPORT) == ("a",)


def test_minitest() -> None:
    output = "\n  1) Failure:\nGetTest#test_it [test/a.rb:4]:\nExpected: 1\n  Actual: 2\n\n"
    assert failures(output, NO_REPORT) == ("GetTest#test_it [test/a.rb:4]: Expected: 1 Actual: 2",)


def test_a_junit_report(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.write_text(
        "<testsuite><testcase classname='a' name='fine'/>"
        "<testcase classname='a' name='it'><failure message='1 is&#10;not 2'/></testcase>"
        "<testcase name='that'><error>late</error></testcase></testsuite>"
    )
    assert failures("", report) == ("a::it: 1 is not 2", "that: late")


def test_our_own_programs() -> None:
    output = "passed  one\n\x1b[31mFAILED\x1b[0m  two: because\n"
    assert failures(output, NO_REPORT) == ("two: because",)


def test_a_long_list_is_cut() -> None:
    output = "".join(f"FAILED  {number}\n" for number in range(MOST + 3))
    assert failures(output, NO_REPORT)[MOST:] == ("and 3 more",)


def test_the_end_of_a_run_names_sections_and_tests(tmp_path: Path) -> None:
    fine = Section("fine", "echo 1 passed, 0 failed, 0 skipped", counts.summary)
    broken = Section(
        "broken", "echo 'FAILED  it'; echo 0 passed, 1 failed, 0 skipped", counts.summary
    )
    silent = Section("silent", "echo why; exit 3", counts.summary)
    crash = Section(
        "crash", "echo 1 passed, 0 failed, 0 skipped; echo Aborted; exit 3", counts.summary
    )
    results = Runner(tmp_path, lambda _: 0, lambda _: 0).run([fine, broken, silent, crash])
    assert failed(results).splitlines() == [
        "FAILED in broken",
        "  it",
        "FAILED in silent: no test was counted (exit code 3)",
        "  why",
        "FAILED in crash: exit code 3, though no test failed",
        "  1 passed, 0 failed, 0 skipped",
        "  Aborted",
    ]
