import json
import sys

import pytest

from harness.row import Row
from hitratio import simulator
from hitratio.checks import WrongSimulation, check
from hitratio.rows import rows
from hitratio.simulator import Outcome, simulate

POLICIES = ["polycache", "polycache-host", "OPT", "LRU"]


def outcome(policy, hits, workload="zipf 0.9", capacity=10, number=0, error=""):
    notes = ["a note"]
    return Outcome(workload, policy, capacity, number, 1000, hits, notes, error, 0.1)


def lru(percent, workload="trace OLTP", capacity=1000):
    return Row(workload, "LRU", f"capacity {capacity}", "hit ratio", samples=[percent / 100])


def test_a_trace_is_a_round():
    row, *more = rows([outcome("LRU", 300, number=1), outcome("LRU", 200)], POLICIES)
    assert not more
    assert row.samples == [0.2, 0.3]
    assert (row.workload, row.operation, row.unit) == ("zipf 0.9", "capacity 10", "hit ratio")
    assert row.notes == ["a note", "1000 requests"]


def test_rows_are_in_order_whenever_their_outcomes_came():
    came = [
        outcome("LRU", 1, capacity=100),
        outcome("LRU", 1),
        outcome("OPT", 1),
        outcome("OPT", 1, workload="loop"),
    ]
    found = [(row.workload, row.operation, row.subject) for row in rows(came, POLICIES)]
    assert found == [
        ("zipf 0.9", "capacity 10", "OPT"),
        ("zipf 0.9", "capacity 10", "LRU"),
        ("zipf 0.9", "capacity 100", "LRU"),
        ("loop", "capacity 10", "OPT"),
    ]


def test_what_is_not_built_yet_is_one_row_a_workload():
    why = "not built yet"
    came = [outcome("polycache", 0, capacity=size, error=why) for size in (10, 20)]
    (row,) = rows([*came, outcome("polycache", 0, number=1, error=why)], POLICIES)
    assert (row.operation, row.failure, row.measured) == ("-", why, False)


def test_a_capacity_that_is_too_small_for_one_says_so():
    came = [
        outcome("polycache-host", 0, error="too small"),
        outcome("polycache-host", 5, capacity=20),
    ]
    small, large = rows(came, POLICIES)
    assert (small.operation, small.failure) == ("capacity 10", "too small")
    assert large.measured


def test_above_opt_is_a_bug_even_if_only_in_one_round():
    came = [
        outcome("OPT", 500),
        outcome("OPT", 400, number=1),
        outcome("OPT", 500, number=2),
        outcome("LRU", 300),
        outcome("LRU", 401, number=1),
        outcome("LRU", 300, number=2),
    ]
    with pytest.raises(WrongSimulation, match=r"round 1: LRU.*above OPT is a bug in the simulator"):
        check(rows(came, POLICIES))


def test_as_much_as_opt_is_possible():
    check(rows([outcome("OPT", 500), outcome("LRU", 500)], POLICIES))


def test_lru_finds_what_was_published():
    check([lru(32.834), lru(32.826), lru(0.5, workload="trace mine"), lru(12, capacity=1001)])


def test_other_hits_of_lru_than_published_are_refused():
    with pytest.raises(WrongSimulation, match=r"LRU 32.840 %, published 32.83 %"):
        check([lru(32.84)])


def program(tmp_path, monkeypatch, text):
    path = tmp_path / "simulator"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    monkeypatch.setattr(simulator, "PROGRAM", path)


def test_the_simulator_is_asked_and_its_lines_are_read(tmp_path, monkeypatch):
    said = vars(outcome("LRU", 7))
    program(
        tmp_path,
        monkeypatch,
        f"import json, sys\njson.load(sys.stdin)\nprint({json.dumps(said)!r})",
    )
    (one,) = simulate(quick=True)
    assert one == outcome("LRU", 7)
    assert one.hit_ratio == 0.007


def test_a_simulator_that_fails_is_an_error(tmp_path, monkeypatch):
    program(tmp_path, monkeypatch, "import sys\nsys.stdin.read()\nsys.exit(3)")
    with pytest.raises(RuntimeError, match="code 3"):
        list(simulate())
