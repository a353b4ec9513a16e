"""Shows how far the main job is: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import TextIO

from .job import Kill

CELLS = 28


class ProgressBar:
    def __init__(self, out: TextIO, records: int) -> None:
        self._out = out
        self._records = records
        self._tty = out.isatty()
        self._quarters = 0
        self._line = ""

    def __call__(self, asked: Mapping[str, int], kill: Kill | None) -> None:
        dead = kill.worker.name if kill else None
        wanted = [count for name, count in asked.items() if name != dead]
        part = sum(wanted) / (self._records * len(wanted)) if wanted else 1.0
        counts = "  ".join(
            f"{name} {'killed' if name == dead else count}" for name, count in asked.items()
        )
        if self._tty:
            self._draw(f"  {bar(part, CELLS, self._out.encoding)} {part:4.0%}  {counts}")
        elif int(part * 4) > self._quarters:
            self._quarters = int(part * 4)
            print(f"  {part:4.0%}  {counts}", file=self._out, flush=True)

    def end(self) -> None:
        if self._tty:
            self._out.write("\n")

    def _draw(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]
        if line != self._line:
            self._line = line
            self._out.write(f"\r{line}\x1b[K")
            self._out.flush()


def bar(part: float, cells: int, encoding: str) -> str:
    full, empty = ("█", "░") if encoding.lower().startswith("utf") else ("#", ".")
    done = int(part * cells)
    return full * done + empty * (cells - done)
