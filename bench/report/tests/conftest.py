"""Lets the tests import what bench/report/run.py imports, and the made-up results beside them."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent), str(TESTS.parent.parent)]
