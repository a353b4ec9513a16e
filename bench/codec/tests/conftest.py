"""Lets the tests import what run.py imports."""

import sys
from pathlib import Path

CODEC = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CODEC.parent), str(CODEC)]
