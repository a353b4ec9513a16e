"""Which section of a run may begin now."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from .section import Section


class Schedule:
    """Gives out sections in their order, each to one lane. A section has to wait while one of its
    `group` runs; one that is `alone` until nothing else runs, and nothing begins beside it."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._waiting = list(sections)
        self._running: list[Section] = []
        self._changed = threading.Condition()

    def take(self) -> Section | None:
        """Waits for a section that may begin; None when none is left."""
        with self._changed:
            while self._waiting:
                found = next((one for one in self._waiting if self._may_begin(one)), None)
                if found:
                    self._waiting.remove(found)
                    self._running.append(found)
                    return found
                self._changed.wait()
            return None

    def stop(self) -> None:
        """Gives out nothing more."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()

    def give_back(self, section: Section) -> None:
        with self._changed:
            self._running.remove(section)
            self._changed.notify_all()

    def _may_begin(self, section: Section) -> bool:
        if section.alone:
            return not self._running
        return not any(
            one.alone or (one.group and one.group == section.group) for one in self._running
        )
