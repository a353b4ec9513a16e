"""A round of one process."""

import itertools

import pytest

from diskbench.rounds import Rounds

ORDER = ["SET", "GET", "GET, random order", "reopen", "SIZE", "GET, p50", "GET, p99"]
ORDER += ["SET over another, p50", "SET over another, p99", "DELETE"]


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
        name for name in ORDER if ", p" not in name and name != "SIZE"
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


def test_percentiles_are_of_the_same_calls(files, tmp_path, monkeypatch):
    """By a clock that stands still for 989 calls, then goes on by a microsecond, by two, ..."""
    clock = itertools.chain([0] * 2 * 989, (n // 2 * 1000 * (n % 2) for n in itertools.count(2)))
    monkeypatch.setattr("diskbench.rounds.perf_counter_ns", clock.__next__)
    subject = rounds(files, tmp_path, keys=1000)
    operations = subject.operations()
    operations["SET"][1](0.1)
    assert [operations[f"GET, {name}"][1](0.1) for name in ("p50", "p99", "p99.9")] == [0, 2, 11]


def test_a_thousand_calls_have_a_p99_9_and_fewer_have_none(files, tmp_path):
    found = [list(rounds(files, tmp_path, keys=keys).operations()) for keys in (999, 1000, 4000)]
    tails = [[name for name in names if "p99.9" in name] for names in found]
    assert tails == [[], ["GET, p99.9"], ["GET, p99.9", "SET over another, p99.9"]]
