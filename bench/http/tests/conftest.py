"""Lets the tests import what run.py imports."""

import sys
from pathlib import Path

HTTP = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HTTP), str(HTTP.parent)]
