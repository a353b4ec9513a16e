#!/usr/bin/env python3
"""Makes pages of all benchmarks' results: a summary and a page for each; `make report` calls it.

make report
bench/report/run.py --results FOLDER --out FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

from harness import results
from report_page import figures, page

ROOT = Path(__file__).resolve().parent.parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/report/run.py", description=__doc__)
    parser.add_argument("--results", type=Path, default=results.FOLDER, metavar="FOLDER")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    out: Path = options.out or ROOT / "target" / "report"
    page.write(figures.load(options.results), out)
    print(f"The report is in {out / page.INDEX}")


if __name__ == "__main__":
    main()
