"""Lets the tests import what run.py imports, and run.py."""

import importlib.util
import sys
from pathlib import Path

import pytest

HTTP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HTTP), str(HTTP.parent)]


@pytest.fixture(scope="module")
def run():
    # Every benchmark has a run.py: this one by its place.
    spec = importlib.util.spec_from_file_location("run_http", HTTP / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
