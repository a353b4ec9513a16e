"""Lets the tests import the demo's driver and its sample's generator."""

import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(DEMO), str(DEMO / "sample")]
