"""What bench-disk-growth measures, without measuring it."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.bench import Setting
from harness.redis_server import Redis
from harness.worker import Unavailable

DISK = Path(__file__).resolve().parent.parent


@pytest.fixture
def growth():
    spec = importlib.util.spec_from_file_location("disk_growth", DISK / "growth.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_grows_to_ten_million(growth):
    assert [group.workload for group in growth.groups(False)] == [
        "10000 entries, 100 bytes each",
        "100000 entries, 100 bytes each",
        "1000000 entries, 100 bytes each",
        "10000000 entries, 100 bytes each",
        "10000 entries, 10000 bytes each",
        "100000 entries, 10000 bytes each",
    ]


def test_its_stores_fit_into_the_budget(growth):
    for group in growth.groups(False):
        assert growth.bytes_at_once(group.options["keys"], group.options["size"]) < growth.BUDGET


def test_a_small_disk_is_a_row_that_says_so(growth, tmp_path, monkeypatch):
    group = growth.groups(False)[3]
    setting = Setting(tmp_path, Redis(0), quick=False)
    usage = SimpleNamespace(free=growth.GB)
    monkeypatch.setattr(growth.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(Unavailable, match=r"1\.0 GB are free, and the stores take 14\.0 GB"):
        group.open(group.subjects[0], group, setting)


@pytest.mark.parametrize(
    "given", [["--quick"], ["--subjects", "lmdb"], ["--workloads", "10000000"], ["--rounds", "20"]]
)
def test_a_run_of_a_part_leaves_the_committed_results(growth, given):
    flag, path = growth.destination(given, quick=False)
    assert flag == "--results"
    assert "results" not in Path(path).parts


def test_so_does_a_quick_run(growth):
    assert growth.destination([], quick=True)
    assert not growth.destination([], quick=False)


def test_a_path_that_was_given_is_kept(growth):
    assert not growth.destination(["--quick", "--results", "here"], quick=True)
