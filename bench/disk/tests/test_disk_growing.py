"""A store that grows."""

import itertools
import os

import pytest

from diskbench.check import Wrong
from diskbench.growing import Growing, to_disk

ORDER = ["SET", "reopen", "SIZE of an entry", "GET, random order"]
ORDER += ["SET over another, random order"]
EVICTED = "evicted for want of a place"


def growing(kind, folder, **options):
    return Growing(kind, str(folder), **{"keys": 400, "size": 100, **options})


def run(subject):
    return {name: run(0.1) for name, (_, run) in subject.operations().items()}


def forgetful(files, forgotten, said):
    """A store whose index has no place for some keys, and counts them, or counts something else."""

    class Forgetful(files):
        has_conflicts = True

        def set(self, key, value):
            if key not in forgotten:
                super().set(key, value)

        def conflicts(self):
            return said

    return Forgetful


def test_operations_follow_each_other_round_after_round(files, tmp_path):
    subject = growing(files, tmp_path)
    subject.check()
    for _ in range(2):
        figures = run(subject)
        assert list(figures) == ORDER
        assert all(figure > 0 for figure in figures.values())
        assert len(list((tmp_path / "store").iterdir())) == 400
    subject.close()


def test_closing_gives_the_disk_back(files, tmp_path):
    subject = growing(files, tmp_path)
    subject.operations()["SET"][1](0.1)
    subject.close()
    assert not list((tmp_path / "store").iterdir())


def test_a_set_is_the_mean_of_all_and_pieces_are_made_while_no_clock_runs(
    files, tmp_path, monkeypatch
):
    monkeypatch.setattr("diskbench.growing.PIECE", 100)
    # A clock by which every piece takes one second.
    monkeypatch.setattr("diskbench.growing.perf_counter", itertools.count().__next__)
    assert growing(files, tmp_path).operations()["SET"][1](0.1) == 4 / 400 * 1e6


def test_one_with_slow_sets_is_loaded_and_says_so(files, tmp_path):
    loaded = []

    class Slow(files):
        timed_sets = 50

        def load_all(self, items):
            loaded.extend(items)
            super().load_all(items)

    subject = growing(Slow, tmp_path)
    assert list(run(subject)) == ORDER
    assert [key for key, _ in loaded] == [f"{number:08d}" for number in range(350)]
    assert "the last 50 sets are timed, the others were loaded" in subject.notes


def test_keys_keep_their_order_to_ten_million(files, tmp_path):
    subject = growing(files, tmp_path)
    keys = [key for key, _ in subject._items([0, 9, 10, 999_999, 1_000_000, 9_999_999])]
    assert keys == sorted(keys)


def test_reads_are_a_sample_in_random_order(files, tmp_path, monkeypatch):
    monkeypatch.setattr("diskbench.growing.READ", 10)
    read = growing(files, tmp_path).read
    assert len(set(read)) == 10
    assert read != sorted(read)


def test_entries_set_again_have_other_values(files, tmp_path):
    subject = growing(files, tmp_path)
    operations = subject.operations()
    operations["SET"][1](0.1)
    key, before = subject._items(subject.set_again[:1])[0]
    assert subject.opened.get(key) == before
    operations["SET over another, random order"][1](0.1)
    assert subject.opened.get(key) not in (None, before)


def test_a_key_that_is_not_there_is_no_measurement(files, tmp_path):
    subject = growing(forgetful(files, {"00000007"}, 0), tmp_path)
    operations = subject.operations()
    operations["SET"][1](0.1)
    with pytest.raises((LookupError, Wrong)):
        operations["GET, random order"][1](0.1)


def test_another_value_is_no_measurement(files, tmp_path):
    class Mistaken(files):
        def get(self, key):
            return super().get(key)[::-1]

    subject = growing(Mistaken, tmp_path)
    operations = subject.operations()
    operations["SET"][1](0.1)
    with pytest.raises(Wrong, match="another value"):
        operations["GET, random order"][1](0.1)


def test_what_an_index_evicted_may_be_missing_and_is_counted(files, tmp_path):
    subject = growing(forgetful(files, {"00000007"}, 1), tmp_path, keys=2000)
    figures = run(subject)
    assert list(figures) == [*ORDER, EVICTED]
    assert figures[EVICTED] == pytest.approx(0.05)


def test_a_thousandth_is_too_much(files, tmp_path):
    subject = growing(forgetful(files, {"00000007", "00000008"}, 2), tmp_path, keys=2000)
    with pytest.raises(Wrong, match=r"0\.1 % of the entries"):
        run(subject)


def test_a_store_without_an_index_has_no_such_row(files, tmp_path):
    assert EVICTED not in growing(files, tmp_path).operations()


def test_only_much_is_waited_for(files, tmp_path, monkeypatch):
    waited = []
    monkeypatch.setattr("diskbench.growing.to_disk", waited.append)
    for much in (40_001, 40_000):
        monkeypatch.setattr("diskbench.growing.MUCH", much)
        growing(files, tmp_path).operations()["SET"][1](0.1)
    assert waited == [tmp_path / "store"]


def test_every_file_goes_to_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("diskbench.growing.os.fsync", lambda file: synced.append(os.fstat(file)))
    (tmp_path / "folder").mkdir()
    paths = [tmp_path / "a", tmp_path / "folder" / "b"]
    for path in paths:
        path.touch()
    to_disk(tmp_path)
    assert sorted(one.st_ino for one in synced) == sorted(path.stat().st_ino for path in paths)
