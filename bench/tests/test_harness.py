"""Whole groups of the shared harness, with subjects that are a few lines of Python."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness import bench, ours, report, results
from harness.bench import Bench, Group, measure
from harness.redis_server import Redis
from harness.row import OF_THE_LIMIT, Row
from harness.subject import Subject
from harness.turns import Pace

FAKE = Path(__file__).with_name("fake_subject_lines.py")
ROUNDS = 10


def subject(name, *arguments):
    return Subject(name, (sys.executable, str(FAKE), name, *arguments))


def group(*subjects):
    return Group("small values", subjects, Pace(ROUNDS, 0.001))


def measured(tmp_path, *subjects):
    rows, _ = measure([group(*subjects)], tmp_path, Redis(0))
    return {(row.subject, row.operation): row for row in rows}


def test_subjects_take_turns_operation_by_operation(tmp_path):
    log = tmp_path / "log"
    rows = measured(tmp_path, subject("a", "log", str(log)), subject("b", "log", str(log)))
    assert {len(row.samples) for row in rows.values()} == {ROUNDS}
    turns = log.read_text().splitlines()
    # One more round than counts: it warms up.
    assert turns == ["GET a", "GET b", "KEYS a", "KEYS b"] * (ROUNDS + 1)


def test_those_of_a_family_have_their_turns_side_by_side_and_rows_keep_their_order(tmp_path):
    log = tmp_path / "log"
    subjects = [subject(name, "log", str(log)) for name in ("a-1", "b-1", "a-2")]
    families = replace(group(*subjects), family=lambda name: name[0])
    rows, _ = measure([families], tmp_path, Redis(0))
    turns = log.read_text().splitlines()
    assert turns[:3] == ["GET a-1", "GET a-2", "GET b-1"]
    assert [row.subject for row in rows[:3]] == ["a-1", "b-1", "a-2"]


def test_a_group_may_make_more_rows_of_those_that_it_measured(tmp_path):
    def derive(rows):
        yield Row(rows[0].workload, "a", "twice", "ns", [2 * one for one in rows[0].samples])

    more = replace(group(subject("a", "value", "50")), derive=derive)
    rows, _ = measure([more], tmp_path, Redis(0))
    assert [row.operation for row in rows] == ["GET", "KEYS", "twice"]
    assert rows[-1].samples == [100] * ROUNDS


def test_what_stands_beside_limits_is_compared_with_nothing_else():
    rows = [
        Row("w", f"polycache-{name}", "requests, of the limit", OF_THE_LIMIT, [share])
        for name, share in (("a", 0.5), ("b", 0.9))
    ]
    text = report.markdown("A title", "a", rows, {})
    assert (
        "| requests, of the limit | **polycache-b** |  | 0.9 | 0.9 to 0.9 | of the limit |" in text
    )
    assert "we lose" not in text


def test_rows_of_an_operation_stand_together_with_their_units(tmp_path):
    rows, versions = measure([group(subject("a"), subject("b"))], tmp_path, Redis(0))
    assert [(row.operation, row.subject, row.unit) for row in rows] == [
        ("GET", "a", "ns per operation"),
        ("GET", "b", "ns per operation"),
        ("KEYS", "a", "µs per operation"),
        ("KEYS", "b", "µs per operation"),
    ]
    assert versions == {"a": "1.0", "b": "1.0"}
    assert rows[0].notes == ["no isolation"]


def test_a_round_may_yield_figures_of_other_names(tmp_path):
    rows, _ = measure([group(subject("a", "figures"))], tmp_path, Redis(0))
    assert {(row.operation, row.unit) for row in rows} == {("p50", "ms")}


RUBY_COMPLAINT = """\
<internal:kernel_require.rb>:85:in `require': cannot load such file -- redis (LoadError)
\tfrom subject.rb:6:in `<main>'"""


def test_the_place_that_ruby_names_before_an_error_is_left_out(tmp_path):
    script = f"import sys; sys.exit({RUBY_COMPLAINT!r})"
    rows = measured(tmp_path, Subject("ruby", (sys.executable, "-c", script)))
    assert rows["ruby", "-"].failure == "cannot load such file -- redis (LoadError)"


def test_a_subject_whose_work_is_wrong_is_shown_and_not_timed(tmp_path):
    rows = measured(tmp_path, subject("a"), subject("b", "wrong"))
    assert rows["b", "-"].failure == "it read 2 where it wrote 1"
    assert rows["a", "GET"].measured


def test_a_subject_that_cannot_start_is_shown(tmp_path):
    rows = measured(tmp_path, subject("a"), subject("b", "crash"))
    assert rows["b", "-"].failure == "ImportError: no such peer"


def test_a_program_that_is_not_there_is_shown(tmp_path):
    rows = measured(tmp_path, subject("a"), Subject("b", ("/nowhere/at/all",)))
    assert "No such file" in rows["b", "-"].failure


def test_a_subject_that_fails_half_way_is_shown_and_the_others_go_on(tmp_path):
    rows = measured(tmp_path, subject("a"), subject("b", "fail"))
    assert rows["b", "GET"].failure == "the disk is full"
    assert rows["b", "KEYS"].failure == "the disk is full"
    assert rows["a", "KEYS"].measured


def test_what_is_not_built_yet_stands_empty_and_named(tmp_path):
    rows = measured(tmp_path, Subject("polycache", absent="not built yet"), subject("a"))
    assert rows["polycache", "-"].failure == "not built yet"


@pytest.fixture
def run(tmp_path, capsys):
    def run(*subjects, quick=False, arguments=()):
        target = tmp_path / "results.jsonl"
        asked = []

        def groups(quick):
            asked.append(quick)
            return [group(*subjects)]

        fake = Bench("fake", "A fake", "b", groups)
        flags = ["--quick"] if quick else []
        bench.main(fake, [*flags, "--results", str(target), *arguments])
        lines = [json.loads(line) for line in target.read_text().splitlines()]
        return asked, capsys.readouterr().out, lines

    return run


def test_a_run_prints_a_report_and_writes_one_object_a_row(run):
    asked, text, lines = run(subject("polycache", "value", "50"), subject("b", "value", "150"))
    assert asked == [False]
    assert "| GET | b | 0.333 **we lose**" not in text
    assert (
        "| GET | b | 3 to polycache | 150 | 150 to 150 | ns per operation | no isolation |" in text
    )
    machine, first, *_ = lines
    assert machine["machine"]["plan"] == "full"
    assert first == {
        "bench": "fake",
        "workload": "small values",
        "subject": "polycache",
        "operation": "GET",
        "unit": "ns per operation",
        "median": 50,
        "low": 50,
        "high": 50,
        "rounds": ROUNDS,
        "notes": "no isolation",
    }


def test_a_quick_run_says_so(run):
    asked, _, lines = run(subject("a"), quick=True)
    assert asked == [True]
    assert lines[0]["machine"]["plan"] == "quick"


def test_only_some_subjects(run):
    _, _, lines = run(subject("a"), subject("b"), arguments=["--subjects", "b"])
    assert {line["subject"] for line in lines[1:]} == {"b"}


def test_fewer_than_ten_rounds_are_refused(run):
    with pytest.raises(SystemExit, match="at least 10"):
        run(subject("a"), arguments=["--rounds", "9"])


def test_no_such_subject_is_said(run):
    with pytest.raises(SystemExit, match="nothing to measure"):
        run(subject("a"), arguments=["--subjects", "c"])


def row(name, samples, unit="ns per operation"):
    return Row("w", name, "GET", unit, samples)


def line(rows, name, baseline="lru-cache", bench="fake"):
    text = report.markdown("A title", baseline, rows, {}, bench)
    return next(line for line in text.splitlines() if f"| {name} |" in line)


def test_a_peer_that_is_quicker_than_ours_is_marked():
    rows = [row("polycache", [200.0]), row("lru-cache", [100.0])]
    assert "0.5 **we lose** to polycache" in line(rows, "lru-cache")


def test_nobody_loses_to_a_limit():
    rows = [row("polycache", [200.0]), row("map", [100.0])]
    assert "| the limit: 0.5 to polycache |" in line(rows, "map", bench="memory")
    assert "we lose" in line(rows, "map", bench="disk")


def test_more_requests_are_better():
    rows = [
        row("polycache", [200.0], "requests per second"),
        row("b", [100.0], "requests per second"),
    ]
    assert "| 2 to polycache |" in line(rows, "b")


def test_without_ours_the_baseline_is_the_reference():
    rows = [row("b", [400.0]), row("lru-cache", [100.0])]
    assert "| 4 to lru-cache |" in line(rows, "b")


def test_a_hit_ratio_may_be_0():
    # Measured as often as the baseline, and less often: ratios of rounds, and of medians.
    for rounds in (1, 2):
        rows = [
            row("OPT", [0.98, 0.98], unit="hit ratio"),
            row("LRU", [0] * rounds, unit="hit ratio"),
        ]
        assert "| LRU | inf to OPT | 0 |" in line(rows, "LRU", "OPT")


def test_a_small_margin_is_too_close_to_call():
    rows = [row("polycache", [100.0]), row("b", [108.0])]
    assert "1.08 (too close to call)" in line(rows, "b")


def test_figures_have_four_digits():
    assert results.figure(1234567.8) == 1235000
    assert results.figure(0.123456) == 0.1235
    assert results.figure(13592.0) == 13592


def test_a_row_without_figures_says_why():
    found = results.as_json("fake", Row("w", "b", "-", failure="no such peer"))
    assert found["median"] is None
    assert found["rounds"] == 0
    assert found["notes"] == "not measured: no such peer"


def rows_of(subject, *failures):
    return [Row("w", subject, "GET", samples=[1.0], failure=failure) for failure in failures]


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        (rows_of("lru-cache", "no such module"), []),
        (rows_of("polycache", ""), []),
        (rows_of("polycache-redis", "not built yet: the remote tier"), []),
        (rows_of("polycache-host", "NotOffered: it has no hashes"), []),
        (rows_of("polycache-files", "NotShared: one process at a time"), []),
        (
            rows_of("polycache-files", "LockError: not built yet"),
            ["polycache-files: LockError: not built yet"],
        ),
        (
            rows_of("polycache", "no such file", "no such file", "out of time"),
            ["polycache: no such file", "polycache: out of time"],
        ),
        ([Row("w", "polycache", "GET")], ["polycache: no sample"]),
    ],
)
def test_only_rows_of_ours_that_are_missing_by_design_may_be_empty(rows, missing):
    assert ours.unmeasured(rows) == missing


def test_a_row_of_ours_that_cannot_be_measured_fails_the_target(tmp_path, capsys):
    def groups(quick):
        return [group(subject("polycache", "fail"), subject("a"))]

    path = tmp_path / "results.jsonl"
    one = Bench(name="fake", title="Fakes", baseline="a", groups=groups)
    with pytest.raises(SystemExit, match="polycache: the disk is full"):
        bench.main(one, ["--results", str(path), "--directory", str(tmp_path)])
    # What was measured is there all the same.
    assert "Fakes" in capsys.readouterr().out
    assert '"subject": "a"' in path.read_text()
