"""How long a run of the tests takes on this machine, told before it begins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from .section import Result

# Minutes of every section on two cores where nothing is built or installed yet.
COLD = 35


class Durations:
    """What the last run of each section took here, in minutes, kept in a file under target/."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.minutes: dict[str, float] = {}
        try:
            kept = json.loads(file.read_text())
            self.minutes = {str(name): float(minutes) for name, minutes in kept.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            pass  # Never run here, or the file was damaged: then nothing is known.

    def estimate(self, sections: Sequence[str], lanes: int = 1) -> str:
        known = [self.minutes[name] for name in sections if name in self.minutes]
        if len(known) < len(sections):
            unknown = len(sections) - len(known)
            return (
                f"{unknown} of {len(sections)} sections never ran here. All of them take about "
                f"{COLD} minutes on 2 cores the first time."
            )
        # Never less than the longest one; lanes beyond the processors only fill gaps.
        minutes = max(sum(known) / lanes, *known)
        return f"{len(sections)} sections: about {minutes:.0f} minutes, as in their last runs here."

    def keep(self, results: Iterable[Result]) -> None:
        """Remembers what sections took; what was built for them counts for the section after it."""
        building = 0.0
        for result in results:
            building += result.minutes
            if result.counts is not None:
                self.minutes[result.name] = round(building, 3)
                building = 0.0
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.minutes, indent=1, sort_keys=True) + "\n")
