import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runner import counts
from runner.console import Console
from runner.counts import Counts
from runner.report import table, total
from runner.run import MISSING, Runner
from runner.section import Result, Section

TOOLS = Path(__file__).resolve().parent.parent
PASSES = "echo 2 passed, 0 failed, 1 skipped"


def run(folder: Path, *sections: Section, set_up: int = 0, make: int = 0) -> list[Result]:
    return Runner(folder, lambda need: set_up, lambda target: make).run(sections)


def section(command: str, parser: counts.Parser = counts.summary, **more: object) -> Section:
    return Section("it", command, parser, **more)  # type: ignore[arg-type]


def test_counts_are_summed_over_sections(tmp_path: Path) -> None:
    results = run(tmp_path, section(PASSES), section(PASSES))
    assert total(results) == Counts(4, 0, 2)


def test_a_section_without_a_count_has_failed(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section("echo fine"))
    assert result.counts == Counts(failed=1)
    assert "no test was counted" in result.note


def test_a_section_that_ran_nothing_has_failed(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section("echo 0 passed, 0 failed, 0 skipped"))
    assert result.counts == Counts(failed=1)


def test_a_bad_exit_code_is_a_failure_of_its_own(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section(f"{PASSES}; exit 7"))
    assert result.counts == Counts(2, 1, 1)
    assert "exit code 7" in result.note


def test_a_bad_exit_code_is_not_counted_twice(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section("echo 2 passed, 1 failed, 0 skipped; exit 1"))
    assert result.counts == Counts(2, 1, 0)


def test_a_missing_language_is_skipped_and_named(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section("exit 1", needs=("ruby",)), set_up=MISSING)
    assert result.counts == Counts(skipped=1)
    assert "ruby" in result.note


def test_without_what_it_likes_a_section_runs(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section(PASSES, likes=("servers",)), set_up=MISSING)
    assert (result.counts, result.note) == (Counts(2, 0, 1), "")
    (result,) = run(tmp_path, section(PASSES, likes=("servers",)), set_up=100)
    assert result.counts == Counts(failed=1)


def test_a_failing_set_up_is_a_failure(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section(PASSES, needs=("ruby",)), set_up=100)
    assert result.counts == Counts(failed=1)


def test_a_failing_build_fails_every_section_that_wants_it(tmp_path: Path) -> None:
    wants = section(PASSES, prepare=("build",))
    results = run(tmp_path, wants, wants, section(PASSES), make=2)
    assert total(results) == Counts(2, 2, 1)


def test_preparation_happens_once(tmp_path: Path) -> None:
    made: list[str] = []

    def make(target: str) -> int:
        made.append(target)
        return 0

    runner = Runner(tmp_path, lambda need: 0, make)
    runner.run([section(PASSES, prepare=("build",))] * 2)
    assert made == ["build"]


def test_a_section_runs_in_its_folder_and_leaves_a_report(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "here").write_text('{"passed": 1, "failed": 0}')
    (result,) = run(tmp_path, section("cp here {report}", counts.json_file, folder="inner"))
    assert result.counts == Counts(passed=1)


def test_a_section_out_of_time_is_killed_and_failed(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section("sleep 600", timeout_minutes=0.002))
    assert result.counts == Counts(failed=1)
    assert result.note == "out of time"


def test_what_a_section_forgot_in_the_background_is_killed(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    (result,) = run(tmp_path, section(f"sleep 600 & echo $! > {alive}; {PASSES}"))
    assert result.counts == Counts(2, 0, 1)
    status = Path("/proc", alive.read_text().strip(), "status")
    assert not status.exists() or "State:\tZ" in status.read_text()


def test_the_table_names_every_section_and_the_sum() -> None:
    shown = table(
        [
            Result("(make build)", 1.0, cpu=1.9),
            Result("rust", 2.0, Counts(5), cpu=2.5),
            Result("ruby", 0.0, Counts(skipped=1), "no ruby here"),
        ],
        2.4,
    )
    assert shown.splitlines() == [
        "section      | minutes | of a cpu | passed | failed | skipped",
        "(make build) |     1.0 |      1.9 |        |        |",
        "rust         |     2.0 |      2.5 |      5 |      0 |       0",
        "ruby         |     0.0 |      0.0 |      0 |      0 |       1   no ruby here",
        "all          |     2.4 |      4.4 |      5 |      0 |       1",
    ]


def test_what_a_section_took_of_the_processors_is_told(tmp_path: Path) -> None:
    (result,) = run(tmp_path, section(f"timeout 0.3 bash -c 'while :; do :; done'; {PASSES}"))
    assert result.counts == Counts(2, 0, 1)
    assert 0 < result.cpu <= result.minutes


def test_sections_run_beside_each_other(tmp_path: Path) -> None:
    # Each waits for the other one.
    meet = "mkdir -p {0} && until [ -e {1} ]; do sleep 0.01; done; " + PASSES
    sections = [
        Section("a", meet.format("a", "b"), counts.summary, timeout_minutes=0.5),
        Section("b", meet.format("b", "a"), counts.summary, timeout_minutes=0.5),
    ]
    results = Runner(tmp_path, lambda need: 0, lambda target: 0, lanes=2).run(sections)
    assert total(results) == Counts(4, 0, 2)


@pytest.mark.parametrize("kind", [{"group": "cargo"}, {"alone": True}])
def test_some_sections_do_not(tmp_path: Path, kind: dict[str, Any]) -> None:
    # `mkdir` fails while the folder of another one stands.
    command = "mkdir one && sleep 0.05 && rmdir one && " + PASSES
    sections = [Section(name, command, counts.summary, **kind) for name in "abcd"]
    results = Runner(tmp_path, lambda need: 0, lambda target: 0, lanes=4).run(sections)
    assert total(results) == Counts(8, 0, 4)


def test_nothing_begins_beside_one_that_is_alone(tmp_path: Path) -> None:
    other = Section("other", f"[ ! -e alone ] && sleep 0.05 && {PASSES}", counts.summary)
    alone = Section(
        "alone", f"mkdir alone && sleep 0.1 && rmdir alone && {PASSES}", counts.summary, alone=True
    )
    sections = [alone, other, replace(other, name="more")]
    results = Runner(tmp_path, lambda need: 0, lambda target: 0, lanes=3).run(sections)
    assert total(results) == Counts(6, 0, 3)


def test_lanes_prepare_once(tmp_path: Path) -> None:
    made: list[str] = []

    def make(target: str) -> int:
        time.sleep(0.05)
        made.append(target)
        return 0

    sections = [
        Section(name, PASSES, counts.summary, needs=("it",), prepare=("build",)) for name in "abc"
    ]
    results = Runner(tmp_path, lambda need: made.append(need) or 0, make, lanes=3).run(sections)  # type: ignore[func-returns-value]
    assert sorted(made) == ["build", "it"]
    assert total(results) == Counts(6, 0, 3)


def test_a_fault_of_the_runner_is_a_failure(tmp_path: Path) -> None:
    def broken(output: str, report: Path) -> Counts | None:
        raise ValueError("a count in words")

    (result,) = run(tmp_path, section(PASSES, broken))
    assert result.counts == Counts(failed=1)
    assert "a count in words" in result.note


def test_the_lines_of_a_section_stay_together() -> None:
    shown: list[str] = []
    console = Console(shown.append)
    console.begin("first")
    console.write("first", "1")
    console.begin("second")
    console.write("second", "a")
    console.begin("third")
    console.write("third", "x")
    console.end("third")
    console.write("first", "2")
    assert "".join(shown) == "12"
    console.end("first")
    # The second one is live now.
    assert "".join(shown) == "12a"
    console.write("second", "b")
    assert "".join(shown) == "12ab"
    console.end("second")
    assert "".join(shown) == "12abx"


def test_an_interrupted_run_ends_with_all_that_it_started(tmp_path: Path) -> None:
    # Two run, one waits, and Ctrl-C comes to the runner only. Who runs the tests may ignore it, as
    # what a shell starts in the background does, and the runner would inherit that.
    program = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {str(TOOLS)!r})
from pathlib import Path
from runner import counts
from runner.run import Runner
from runner.section import Section
command = "echo $$ >> started; exec sleep 600"
sections = [Section(name, command, counts.summary) for name in "abc"]
Runner(Path("."), lambda need: 0, lambda target: 0, lanes=2).run(sections)
"""
    started = tmp_path / "started"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as runner:
        try:
            while not started.exists() or len(started.read_text().split()) < 2:
                assert runner.poll() is None
                time.sleep(0.01)
            runner.send_signal(signal.SIGINT)
            assert runner.wait(timeout=60) != 0
        finally:
            runner.kill()
    pids = started.read_text().split()
    assert len(pids) == 2
    for pid in pids:
        status = Path("/proc", pid, "status")
        assert not status.exists() or "State:\tZ" in status.read_text()


def test_a_name_that_comes_again_keeps_its_lines() -> None:
    shown: list[str] = []
    console = Console(shown.append)
    console.begin("first")
    console.begin("second")
    console.write("second", "a")
    console.end("second")
    console.begin("second")
    console.write("second", "b")
    console.end("second")
    console.end("first")
    assert "".join(shown) == "ab"
