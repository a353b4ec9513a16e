#!/usr/bin/env python3
"""The cache as production uses it: short processes, idle handles, kills, full disks, sources that
are slow or fail, changed options; `make test-production` calls it.

    make test-production                  every case
    make test-production QUICK=1          the same cases, smaller
    make test-production CASES="space"    those whose group or name holds this text

It prints a table of cases and outcomes. The last line is `N passed, N failed, N skipped`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import directory  # noqa: F401 (lists its cases)
import loads  # noqa: F401
import remote_tier  # noqa: F401
import space  # noqa: F401
import tenants  # noqa: F401
from cases import CASES, Case, Failed, Skipped, a_place


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the cache as production does.")
    parser.add_argument("cases", nargs="*", help="texts of groups or names; none is all")
    wanted = parser.parse_args().cases
    quick = bool(os.environ.get("QUICK"))
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    print("| case | must be | outcome | seconds | |\n|---|---|---|---:|---|")
    for one in CASES:
        if wanted and not any(text in f"{one.group} {one.name}" for text in wanted):
            continue
        began = time.monotonic()
        verdict, outcome = judge(one, quick)
        counts[verdict] += 1
        took = time.monotonic() - began
        row = f"| {one.name} | {one.asked} | {outcome} | {took:.1f} | {verdict} |"
        print(row, flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return int(counts["failed"] > 0 or not sum(counts.values()))


def judge(one: Case, quick: bool) -> tuple[str, str]:
    with a_place(quick) as place:
        try:
            return "passed", one.run(place)
        except Failed as failed:
            return "failed", str(failed)
        except Skipped as skipped:
            return "skipped", str(skipped)
        except Exception as error:  # The case's own outcome: an error that nobody expected.
            return "failed", f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main())
