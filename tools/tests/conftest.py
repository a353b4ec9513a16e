"""Lets the tests import the tools, and the report of the benchmarks, as the tools do."""

import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
BENCH = TOOLS.parent / "bench"
sys.path[:0] = [str(TOOLS), str(BENCH), str(BENCH / "report")]
