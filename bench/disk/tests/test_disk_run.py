"""What is measured, without measuring it."""

import importlib.util
import re
from pathlib import Path

import pytest

DISK = Path(__file__).resolve().parent.parent


@pytest.fixture
def run():
    spec = importlib.util.spec_from_file_location("disk_run", DISK / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_workloads_are_the_pages(run):
    assert [group.workload for group in run.groups(False)] == [
        "10000 entries, 1000 bytes each",
        "10000 entries, 10000 bytes each",
        "100000 entries, 100 bytes each",
        "100000 entries, 1000 bytes each",
        "10000 entries, 1000 bytes each, 2 processes",
        "10000 entries, 1000 bytes each, 4 processes",
    ]


def test_a_quick_run_has_all_subjects_and_ten_rounds(run):
    full, quick = run.groups(False), run.groups(True)
    assert len(quick) < len(full)
    for group in quick:
        assert group.pace.rounds >= 10
        assert group.subjects == full[0].subjects


def test_a_file_is_called_as_its_subject():
    for path in (DISK / "subjects").glob("*.py"):
        assert re.search(r'^    name = "(.*)"$', path.read_text(), re.M)[1] == path.stem


def test_the_pages_own_cache_needs_a_checkout(run, monkeypatch):
    for folder, absent in (("", True), ("/a/checkout", False)):
        monkeypatch.setenv("BLOB_CACHE", folder)
        found = {one.name: one for one in run.subjects()}
        assert bool(found["blob_cache"].absent) == absent
        assert found["polycache"].command
