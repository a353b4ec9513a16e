"""What is printed while several sections run at the same time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable


def to_stdout(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


class Console:
    """Keeps the lines of each section together. Those of the section that began first are shown as
    they come, and those of the others when it is their turn: there is always one that is live."""

    def __init__(self, show: Callable[[str], None] = to_stdout) -> None:
        self._show = show
        self._lock = threading.Lock()
        # What each section has not shown yet, in the order in which they began; the first is live.
        self._kept: dict[str, list[str]] = {}
        self._ended: set[str] = set()

    def begin(self, name: str) -> None:
        with self._lock:
            # A name may come twice: then what it has not shown yet stays.
            self._kept.setdefault(name, [])
            self._ended.discard(name)

    def write(self, name: str, text: str) -> None:
        with self._lock:
            if name == next(iter(self._kept)):
                self._show(text)
            else:
                self._kept[name].append(text)

    def end(self, name: str) -> None:
        with self._lock:
            self._ended.add(name)
            while self._kept and (first := next(iter(self._kept))) in self._ended:
                self._flush(first)
                del self._kept[first]
                self._ended.remove(first)
            if self._kept:
                self._flush(next(iter(self._kept)))

    def _flush(self, name: str) -> None:
        self._show("".join(self._kept[name]))
        self._kept[name] = []
