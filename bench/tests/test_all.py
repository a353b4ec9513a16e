"""`make bench` without what it starts."""

import json

import pytest

import all as every
from harness import results


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(every, "REPORTS", tmp_path / "reports")
    return tmp_path


def took(folder, plan, seconds):
    machine = {"machine": {"plan": plan, "seconds": seconds}}
    (folder / "disk.jsonl").write_text(json.dumps(machine) + "\n")


def test_a_benchmark_takes_as_long_as_the_last_time(folder):
    took(folder, "full, 15 rounds", 400)
    assert every.expected("disk", "full") == 400 + every.SETTING_UP


def test_a_quick_run_says_nothing_of_a_full_one(folder):
    took(folder, "quick", 40)
    assert every.expected("disk", "full") == every.USUAL["full"] + every.SETTING_UP


def test_without_results_there_is_the_usual_time(folder):
    assert every.expected("disk", "quick") == every.USUAL["quick"] + every.SETTING_UP


def test_one_that_fails_is_named_and_the_others_go_on(folder, monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(every, "run", lambda name: ran.append(name) or name != "disk")
    assert every.main(["memory", "disk", "http"]) == 1
    assert ran == ["memory", "disk", "http"]
    out = capsys.readouterr().out
    assert out.endswith("failed: disk\n")
    assert "2 of 3: bench-disk" in out


def test_all_done_is_a_success(folder, monkeypatch):
    monkeypatch.setattr(every, "run", lambda name: True)
    assert every.main(["memory"]) == 0
