"""A row of ours that cannot be measured makes the benchmark's target fail.

A peer that is not available is a row that says so. For ours that would hide a broken build, so
only what is missing by design may be empty.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from .row import Measured

# What an empty row of ours may say: the capability is in no version yet, the subject does not have
# the operation (`NotOffered` in bench/serve), or several processes cannot share it (`NotShared`).
BY_DESIGN = re.compile(r"^(not built yet|NotOffered|NotShared)\b")


def unmeasured(rows: Iterable[Measured]) -> list[str]:
    """A line for each subject of ours and reason that should have been measured."""
    found = {
        f"{row.subject}: {row.failure or 'no sample'}": None
        for row in rows
        if row.is_ours and not row.measured and not BY_DESIGN.match(row.failure)
    }
    return list(found)


def require(rows: Iterable[Measured]) -> None:
    """Ends the program with code 1 where a row of ours is missing; called when all is written."""
    missing = unmeasured(rows)
    if missing:
        sys.exit("rows of ours could not be measured:\n" + "\n".join(f"- {one}" for one in missing))
