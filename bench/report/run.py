#!/usr/bin/env python3
"""Makes one self-contained page of all benchmarks' results; `make report` calls it.

make report
bench/report/run.py --results FOLDER --out FILE
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
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    out: Path = options.out or ROOT / "target" / "report" / "index.html"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page.render(figures.load(options.results)), encoding="utf-8")
    print(f"The report is in {out}")


if __name__ == "__main__":
    main()
