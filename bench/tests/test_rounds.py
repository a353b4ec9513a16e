"""Whole groups, with a subject that is a few lines of Python."""

import sys
from pathlib import Path

import pytest

from controller import tails
from controller.rounds import Group
from controller.row import P99, P999
from controller.setting import Pace, Setting
from controller.subjects import Subject
from controller.workload import Workload
from harness import redis_server
from harness.worker import Unavailable, Worker

WORKLOAD = Workload(10, 100)
ROUNDS = 3
FAKE = Path(__file__).with_name("fake_subject.py")


def subject(name, *arguments):
    return Subject("fake", name, (sys.executable, str(FAKE), name, *arguments))


@pytest.fixture
def setting(tmp_path):
    WORKLOAD.write(tmp_path / "data")
    return Setting(
        tmp_path / "data",
        tmp_path / "stores",
        redis_server.Redis(0),
        Pace(ROUNDS, 0.0005),
        lambda share, what: None,
    )


def measure(setting, *subjects):
    return {row.subject: row for row in Group("fake", WORKLOAD, setting).measure(list(subjects))}


def test_subjects_take_turns(setting, tmp_path):
    log = str(tmp_path / "log")
    rows = measure(setting, subject("one", "log", log), subject("two", "log", log))
    assert {len(row.samples) for row in rows.values()} == {ROUNDS}
    turns = Path(log).read_text().split()[-2 * ROUNDS :]
    assert turns == ["one", "two"] * ROUNDS


def test_the_time_of_a_round_is_divided_by_its_operations(setting):
    row = measure(setting, subject("one", "nanoseconds", "2500"))["one"]
    assert row.samples == pytest.approx([2500] * ROUNDS)
    assert "200 operations a round" in row.notes


def test_reads_of_a_memory_tier_are_warm(setting, tmp_path):
    log = tmp_path / "log"
    measure(setting, subject("one", "counts", str(log)))
    counts = log.read_text().split()
    assert counts[-2 * ROUNDS :: 2] == [str(WORKLOAD.keys)] * ROUNDS
    assert all(int(count) > WORKLOAD.keys for count in counts[-2 * ROUNDS + 1 :: 2])


def test_a_subject_that_cannot_start_says_why(setting):
    rows = measure(setting, subject("one"), subject("two", "crash"))
    assert rows["two"].failure == "ImportError: no such peer"
    assert rows["one"].measured


def test_a_subject_that_fails_half_way_does_not_stop_the_others(setting):
    rows = measure(setting, subject("one"), subject("two", "fail"))
    assert rows["two"].failure == "the disk is full"
    assert not rows["two"].measured
    assert rows["one"].measured


def test_reads_that_find_nothing_are_no_measurement(setting):
    assert "found nothing" in measure(setting, subject("one", "misses"))["one"].failure


def test_a_bounded_store_that_does_not_recycle_yet_is_refused(setting):
    assert "not in steady state" in measure(setting, subject("one", "fresh"))["one"].failure


def test_redis_is_not_asked_for_where_there_is_none(setting):
    assert measure(setting, subject("redis"))["redis"].failure == "no redis-server here"


def test_a_program_that_is_not_there_is_unavailable():
    with pytest.raises(Unavailable, match="No such file"):
        Worker(["/nowhere/at/all"], {})


def test_a_store_that_grows_has_a_row_of_its_space(setting, tmp_path):
    load = Workload(10, 100, room=1 << 20)
    rows = Group("fake", load, setting).measure([subject("one", "file")])
    space = next(row for row in rows if row.operation == "space")
    assert space.samples == [4096 / load.keys]


def test_a_store_that_grows_is_filled_once(setting, tmp_path):
    log = tmp_path / "log"
    load = Workload(10, 100, room=1 << 20)
    Group("fake", load, setting).measure([subject("one", "passes", str(log))])
    Group("fake", WORKLOAD, setting).measure([subject("one", "passes", str(log))])
    assert log.read_text().split() == ["1", "2"]


def test_the_slowest_operations_are_rows(setting):
    rows = tails.tails([subject("one", "log", "/dev/null")], WORKLOAD, setting)
    figures = {(row.operation, row.unit): row.samples for row in rows}
    assert figures[("get", P99)] == [2000] * ROUNDS
    assert figures[("get", P999)] == [3000] * ROUNDS


def test_a_subject_that_cannot_be_timed_is_a_row_that_says_so(setting):
    (row,) = tails.tails([subject("one", "crash")], WORKLOAD, setting)
    assert "no such peer" in row.failure
