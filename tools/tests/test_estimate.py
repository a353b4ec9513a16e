"""What `make test` says at its start."""

from __future__ import annotations

from pathlib import Path

from runner.counts import Counts
from runner.estimate import Durations
from runner.section import Result


def test_a_first_run_says_what_a_cold_one_takes(tmp_path: Path) -> None:
    said = Durations(tmp_path / "minutes.json").estimate(["rust", "python"])
    assert said.startswith("2 of 2 sections never ran here.")


def test_a_later_run_adds_up_the_last_ones(tmp_path: Path) -> None:
    file = tmp_path / "target" / "minutes.json"
    Durations(file).keep(
        [
            Result("(make build)", 1.0),
            Result("rust", 3.0, Counts(passed=1)),
            Result("python", 0.5, Counts(passed=1)),
        ]
    )
    Durations(file).keep([Result("python", 2.0, Counts(failed=1))])
    assert Durations(file).estimate(["rust", "python"]) == (
        "2 sections: about 6 minutes, as in their last runs here."
    )
    assert "1 of 2 sections never ran here" in Durations(file).estimate(["rust", "ruby"])


def test_a_damaged_file_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "minutes.json"
    for damaged in ("", "[1]", '{"rust": "long"}'):
        file.write_text(damaged)
        assert "never ran here" in Durations(file).estimate(["rust"])
