"""Lets the tests import what bench/memory/run.py imports."""

import sys
from pathlib import Path

MEMORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(MEMORY.parent), str(MEMORY)]
