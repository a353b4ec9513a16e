"""Lets the tests import the tools as the tools import each other."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
