"""Lets the tests import what bench/failures/run.py imports."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
