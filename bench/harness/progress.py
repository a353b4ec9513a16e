"""One line that says what is measured and how long it will still take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

# Seconds between two lines, for output that cannot be overwritten and for a terminal.
SELDOM, OFTEN = 10.0, 0.2


class Progress:
    """`total` is the sum of the jobs' weights, in any unit of time."""

    def __init__(
        self,
        total: float,
        out: TextIO = sys.stderr,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self.out = out
        self.clock = clock
        self.started = clock()
        self.done = 0.0
        self.shown = self.started
        self.interval = OFTEN if out.isatty() else SELDOM

    def of(self, weight: float) -> Callable[[float, str], None]:
        """What a job of this weight reports its shares to."""
        return lambda share, what: self._step(weight * share, what)

    def end(self) -> None:
        self._show(f"measured for {_minutes(self.clock() - self.started)}")
        if self.out.isatty():
            self.out.write("\n")

    def _step(self, weight: float, what: str) -> None:
        self.done += weight
        now = self.clock()
        if now - self.shown < self.interval:
            return
        self.shown = now
        left = (now - self.started) * (self.total / self.done - 1)
        self._show(f"{self.done / self.total:4.0%}  {_minutes(left)} left  {what}")

    def _show(self, text: str) -> None:
        self.out.write(f"\r\x1b[K{text}" if self.out.isatty() else f"{text}\n")
        self.out.flush()


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
