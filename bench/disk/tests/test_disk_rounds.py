"""A round of one process."""

import itertools

import pytest

from diskbench.rounds import Rounds

ORDER = ["SET", "GET", "GET, random order", "reopen", "SIZE", "GET, p99"]
ORDER += ["SET over another, p99", "DELETE"]


def rounds(kind, folder, **options):
    return Rounds(kind, str(folder), **{"keys": 400, "size": 100, **options})


def run(subject):
    return {name: run(0.1) for name, (_, run) in subject.operations().items()}


def test_operations_follow_each_other_round_after_round(files, tmp_path):
    subject = rounds(files, tmp_path)
    subject.check()
    for _ in range(2):
        figures = run(subject)
        assert list(figures) == ORDER
        assert all(figure > 0 for figure in figures.values())
        assert not list((tmp_path / "store").iterdir())
    subject.close()


def test_figures_of_fewer_keys_are_scaled_and_say_so(files, tmp_path):
    class Slow(files):
        most = 200

    all, some = rounds(files, tmp_path / "all"), rounds(Slow, tmp_path / "some")
    sizes = [run(subject)["SIZE"] for subject in (all, some)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.2)
    assert "measured over the first 200 of 400 keys, scaled" in some.notes
    assert not any("scaled" in note for note in all.notes)


def test_too_few_keys_have_no_p99_and_no_size(files, tmp_path):
    assert list(run(rounds(files, tmp_path, keys=20))) == [
        name for name in ORDER if "p99" not in name and name != "SIZE"
    ]


def test_one_whose_reads_are_anothers_is_only_written(files, tmp_path):
    class Written(files):
        writes_only = True

    subject = rounds(Written, tmp_path, keys=20)
    subject.check()
    assert list(run(subject)) == ["SET", "DELETE"]


def test_random_order_is_a_sample_and_scaled(files, tmp_path, monkeypatch):
    monkeypatch.setattr("diskbench.rounds.IN_RANDOM_ORDER", 10)
    subject = rounds(files, tmp_path)
    assert len(subject.shuffled) == 10
    # A clock by which every loop takes one second.
    monkeypatch.setattr("diskbench.rounds.perf_counter", itertools.count().__next__)
    figures = run(subject)
    assert figures["GET"] == 1
    assert figures["GET, random order"] == 40


def test_a_key_that_is_not_there_is_no_measurement(files, tmp_path):
    subject = rounds(files, tmp_path)
    operations = subject.operations()
    operations["SET"][1](0.1)
    (tmp_path / "store" / "000007").unlink()
    with pytest.raises(LookupError, match="1 of 400 keys were not there"):
        operations["GET"][1](0.1)
